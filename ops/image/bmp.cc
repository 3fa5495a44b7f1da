#include "ops/image/bmp.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "graph/status.h"

namespace sluice {
namespace {

int32_t Int32At(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) {
    value |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return static_cast<int32_t>(value);
}

// Copies a row of pixels. In the file, a pixel is blue, green, red and perhaps alpha.
void CopyRow(const char* from, int64_t width, int channels, uint8_t* to) {
  std::memcpy(to, from, static_cast<size_t>(width * channels));
  if (channels < 3) return;
  for (int64_t x = 0; x < width; ++x) std::swap(to[x * channels], to[x * channels + 2]);
}

}  // namespace

absl::Status DecodeBmp(std::string_view bytes, int channels,
                       absl::FunctionRef<absl::StatusOr<void*>(const ImageSize&)> place) {
  SLUICE_INVALID_IF(bytes.size() < 32,
                    "Incomplete bmp content, requires at least 32 bytes to find the header "
                    "size, width, height, and bpp, got ",
                    bytes.size(), " bytes");
  const int64_t start = Int32At(bytes, 10);
  const int64_t width = Int32At(bytes, 18);
  const int64_t signed_height = Int32At(bytes, 22);
  const int bits = static_cast<unsigned char>(bytes[28]) | static_cast<unsigned char>(bytes[29])
                                                               << 8;
  SLUICE_INVALID_IF(start < 0, "header size must be non-negative, got ", start);
  SLUICE_INVALID_IF(width < 0, "width must be non-negative, got ", width);
  const int own = bits / 8;
  SLUICE_INVALID_IF(own != 1 && own != 3 && own != 4,
                    "Number of channels inherent in the image must be 1, 3 or 4, was ", own);
  SLUICE_INVALID_IF(channels == 1 && channels != own,
                    "`channels` must be 0, 3 or 4 for BMP, but got 1");
  SLUICE_INVALID_IF(channels != 0 && channels != own, "channels attribute ", channels,
                    " does not match bits per pixel from file ", own);
  const int64_t height = std::abs(signed_height);  // negative: the top row is the first one
  SLUICE_INVALID_IF(width == 0 || height == 0 || width * height > kMaxPixels,
                    "expected an image of 1 to ", kMaxPixels, " pixels, got ", width, " by ",
                    height);
  const int64_t row = (width * own + 3) / 4 * 4;
  const int64_t surplus = static_cast<int64_t>(bytes.size()) - (start + row * height);
  SLUICE_INVALID_IF(surplus != 0, surplus < 0 ? "Incomplete bmp content. " : "",
                    "Input size should match (header_size + row_size * abs_height) but they differ "
                    "by ",
                    surplus);
  SLUICE_ASSIGN_OR_RETURN(void* const memory, place({height, width, own}));
  auto* pixels = static_cast<uint8_t*>(memory);
  for (int64_t y = 0; y < height; ++y) {
    const int64_t line = signed_height < 0 ? y : height - 1 - y;
    CopyRow(bytes.data() + start + line * row, width, own, pixels + y * width * own);
  }
  return absl::OkStatus();
}

}  // namespace sluice
