// GIF images and animations into arrays of RGB bytes.
#ifndef SLUICE_OPS_IMAGE_GIF_H_
#define SLUICE_OPS_IMAGE_GIF_H_

#include <cstdint>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "ops/image/png.h"

namespace sluice {

// `place` is called once, with the number of frames and their size (three channels), and gives the
// memory for all. What a frame does not cover, or leaves transparent, is as in the frame before,
// black in the first. At most `max_frames` (0: all). INVALID_ARGUMENT on bytes that are no GIF
// image.
absl::Status DecodeGif(
    std::string_view bytes, int64_t max_frames,
    absl::FunctionRef<absl::StatusOr<uint8_t*>(int64_t frames, const ImageSize&)> place);

inline bool IsGif(std::string_view bytes) { return bytes.substr(0, 3) == "GIF"; }

}  // namespace sluice

#endif  // SLUICE_OPS_IMAGE_GIF_H_
