// Uncompressed BMP images into arrays of bytes, row by row, channels interleaved.
#ifndef SLUICE_OPS_IMAGE_BMP_H_
#define SLUICE_OPS_IMAGE_BMP_H_

#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "ops/image/png.h"

namespace sluice {

// `channels`: 0 or as many as the image has (1, 3, 4). INVALID_ARGUMENT in TensorFlow's words.
absl::Status DecodeBmp(std::string_view bytes, int channels,
                       absl::FunctionRef<absl::StatusOr<void*>(const ImageSize&)> place);

inline bool IsBmp(std::string_view bytes) { return bytes.substr(0, 2) == "BM"; }

}  // namespace sluice

#endif  // SLUICE_OPS_IMAGE_BMP_H_
