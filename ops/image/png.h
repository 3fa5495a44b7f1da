// Encodes and decodes PNG images.
//
// Pixels are stored row by row, with interleaved channels: 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA.
// A channel has 8 bits, or 16 bits in the machine's byte order.
// Thread safety: pure functions.
// Errors: INVALID_ARGUMENT, with libpng's text, if the bytes are not a PNG image, are truncated or
// declare more pixels than `kMaxPixels`. RESOURCE_EXHAUSTED if there is no memory.
#ifndef SLUICE_OPS_IMAGE_PNG_H_
#define SLUICE_OPS_IMAGE_PNG_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sluice {

struct ImageSize {
  int64_t height = 0;
  int64_t width = 0;
  int channels = 0;
};

// The largest number of pixels of an image, as in TensorFlow.
inline constexpr int64_t kMaxPixels = int64_t{1} << 29;

// `compression` is a level of zlib, or -1 for its default.
absl::StatusOr<std::string> EncodePng(const void* pixels, const ImageSize& size, int bits,
                                      int compression = -1);

// Decodes to `channels` channels (0: those of the image) of `bits` bits. `place` is called as soon
// as the size is known, and returns the memory for the pixels.
absl::Status DecodePng(std::string_view bytes, int channels, int bits,
                       absl::FunctionRef<absl::StatusOr<void*>(const ImageSize&)> place);

inline bool IsPng(std::string_view bytes) {
  return bytes.substr(0, 8) == std::string_view("\x89PNG\r\n\x1a\n", 8);
}

}  // namespace sluice

#endif  // SLUICE_OPS_IMAGE_PNG_H_
