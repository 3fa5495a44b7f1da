#include "ops/image/gif.h"

#include <gif_lib.h>

#include <algorithm>
#include <cstring>

#include "graph/status.h"

namespace sluice {
namespace {

int Read(GifFileType* gif, GifByteType* to, int count) {
  auto* bytes = static_cast<std::string_view*>(gif->UserData);
  const size_t n = std::min(static_cast<size_t>(std::max(count, 0)), bytes->size());
  std::memcpy(to, bytes->data(), n);
  bytes->remove_prefix(n);
  return static_cast<int>(n);
}

struct File {
  explicit File(std::string_view* bytes) { gif = DGifOpen(bytes, Read, &error); }
  ~File() {
    if (gif != nullptr) DGifCloseFile(gif, &error);
  }
  GifFileType* gif = nullptr;
  int error = 0;
};

absl::Status Invalid(int error) {
  const char* text = GifErrorString(error);
  return InvalidArgument("Invalid GIF data, failed to open gif file: ",
                         text == nullptr ? "unknown" : text);
}

// Returns the index of the colour that means "transparent", or -1.
int TransparentColor(GifFileType* gif, int frame) {
  GraphicsControlBlock block;
  if (DGifSavedExtensionToGCB(gif, frame, &block) != GIF_OK) return -1;
  return block.TransparentColor;
}

absl::Status Draw(GifFileType* gif, int frame, const ImageSize& size, uint8_t* canvas) {
  const SavedImage& image = gif->SavedImages[frame];
  const GifImageDesc& area = image.ImageDesc;
  const ColorMapObject* colors = area.ColorMap != nullptr ? area.ColorMap : gif->SColorMap;
  SLUICE_INVALID_IF(colors == nullptr, "missing color map for frame ", frame);
  const int transparent = TransparentColor(gif, frame);
  const int64_t bottom = std::min<int64_t>(int64_t{area.Top} + area.Height, size.height);
  const int64_t right = std::min<int64_t>(int64_t{area.Left} + area.Width, size.width);
  for (int64_t y = std::max(area.Top, 0); y < bottom; ++y) {
    for (int64_t x = std::max(area.Left, 0); x < right; ++x) {
      const int index = image.RasterBits[(y - area.Top) * area.Width + (x - area.Left)];
      if (index == transparent) continue;
      SLUICE_INVALID_IF(index >= colors->ColorCount, "found color index ", index,
                        " outside of color map range ", colors->ColorCount);
      uint8_t* pixel = canvas + (y * size.width + x) * 3;
      pixel[0] = colors->Colors[index].Red;
      pixel[1] = colors->Colors[index].Green;
      pixel[2] = colors->Colors[index].Blue;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status DecodeGif(
    std::string_view bytes, int64_t max_frames,
    absl::FunctionRef<absl::StatusOr<uint8_t*>(int64_t frames, const ImageSize&)> place) {
  File file(&bytes);
  if (file.gif == nullptr) return Invalid(file.error);
  const int slurped = DGifSlurp(file.gif);
  if (slurped != GIF_OK && file.gif->ImageCount <= 1) return Invalid(file.gif->Error);
  // If the file is truncated, decodes only the complete frames.
  int64_t frames = file.gif->ImageCount - (slurped == GIF_OK ? 0 : 1);
  SLUICE_INVALID_IF(frames <= 0, "gif file does not contain any image");
  if (max_frames > 0) frames = std::min(frames, max_frames);
  // The first frame may be larger than the declared canvas.
  const GifImageDesc& first = file.gif->SavedImages[0].ImageDesc;
  ImageSize size = {std::max<int64_t>(file.gif->SHeight, first.Height),
                    std::max<int64_t>(file.gif->SWidth, first.Width), 3};
  SLUICE_INVALID_IF(
      size.height == 0 || size.width == 0 || size.height * size.width > kMaxPixels / frames,
      "expected frames of 1 to ", kMaxPixels, " pixels in all, got ", frames, " of ", size.width,
      " by ", size.height);
  SLUICE_ASSIGN_OR_RETURN(uint8_t* const pixels, place(frames, size));
  const int64_t each = size.height * size.width * 3;
  for (int64_t i = 0; i < frames; ++i) {
    uint8_t* canvas = pixels + i * each;
    if (i == 0) {
      std::memset(canvas, 0, static_cast<size_t>(each));
    } else {
      std::memcpy(canvas, canvas - each, static_cast<size_t>(each));
    }
    SLUICE_RETURN_IF_ERROR(Draw(file.gif, static_cast<int>(i), size, canvas));
  }
  return absl::OkStatus();
}

}  // namespace sluice
