// Decodes uncompressed BMP images to bytes, row by row, with interleaved channels.
#ifndef SLUICE_OPS_IMAGE_BMP_H_
#define SLUICE_OPS_IMAGE_BMP_H_

#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "ops/image/png.h"

namespace sluice {

// `channels` is the number of channels that the image must have (1, 3 or 4), or 0 for any of these.
// `place` is called as soon as the size is known, and returns the memory for the pixels.
// INVALID_ARGUMENT if the header is not valid, the image has another number of channels, no pixels
// or more than kMaxPixels (png.h), or the number of bytes does not fit the size of the image. The
// format's field for the compression is not checked.
absl::Status DecodeBmp(std::string_view bytes, int channels,
                       absl::FunctionRef<absl::StatusOr<void*>(const ImageSize&)> place);

inline bool IsBmp(std::string_view bytes) { return bytes.substr(0, 2) == "BM"; }

}  // namespace sluice

#endif  // SLUICE_OPS_IMAGE_BMP_H_
