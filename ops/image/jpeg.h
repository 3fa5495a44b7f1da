// Encodes and decodes JPEG images, as bytes row by row with interleaved channels.
//
// Thread safety: pure functions.
// Errors: INVALID_ARGUMENT if the bytes are not a JPEG image or are truncated (unless
// `try_recover_truncated` allows it), if the crop window lies outside the image, or if the image
// has more than kMaxPixels pixels (png.h).
#ifndef SLUICE_OPS_IMAGE_JPEG_H_
#define SLUICE_OPS_IMAGE_JPEG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/image/png.h"

namespace sluice {

struct CropWindow {
  int64_t y = 0;
  int64_t x = 0;
  int64_t height = 0;
  int64_t width = 0;
};

struct JpegDecodeOptions {
  int channels = 0;  // 1 or 3. 0: those of the image
  int ratio = 1;     // 1, 2, 4 or 8: divides the height and the width
  bool fancy_upscaling = true;
  bool try_recover_truncated = false;
  // The least fraction of its lines that a truncated image must have if try_recover_truncated is
  // true. The missing lines become black.
  float acceptable_fraction = 1.0f;
  bool fast_dct = false;
  // The part of the image to return, after the division by `ratio`. Nullopt: the whole image.
  std::optional<CropWindow> crop;
};

// Reads the size and the number of channels from the header.
absl::StatusOr<ImageSize> JpegSize(std::string_view bytes);

// Decodes the image to the memory that `place` returns. `place` is called as soon as the size is
// known.
absl::Status DecodeJpeg(std::string_view bytes, const JpegDecodeOptions& options,
                        absl::FunctionRef<absl::StatusOr<void*>(const ImageSize&)> place);

struct JpegEncodeOptions {
  int quality = 95;
  bool progressive = false;
  bool optimize_size = false;
  bool chroma_downsampling = true;
  bool density_in_inches = true;  // pixels per inch, otherwise per centimetre
  int x_density = 300;
  int y_density = 300;
  std::string xmp_metadata = "";
};

// The image has one channel (grey) or three (RGB).
absl::StatusOr<std::string> EncodeJpeg(const uint8_t* pixels, const ImageSize& size,
                                       const JpegEncodeOptions& options);

inline bool IsJpeg(std::string_view bytes) { return bytes.substr(0, 3) == "\xff\xd8\xff"; }

}  // namespace sluice

#endif  // SLUICE_OPS_IMAGE_JPEG_H_
