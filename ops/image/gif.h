// Decodes GIF images and animations to RGB bytes.
#ifndef SLUICE_OPS_IMAGE_GIF_H_
#define SLUICE_OPS_IMAGE_GIF_H_

#include <cstdint>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "ops/image/png.h"

namespace sluice {

// Decodes at most `max_frames` frames (0: all). `place` is called once, with the number of frames
// and their size (three channels), and returns the memory for all frames. A pixel that a frame does
// not cover, or that is transparent, keeps its colour of the previous frame. In the first frame,
// such a pixel is black. If the bytes are truncated, only complete frames are decoded.
// INVALID_ARGUMENT if the bytes are not a GIF image, are damaged or have no complete frame, or if
// all frames together have more than kMaxPixels pixels (png.h).
absl::Status DecodeGif(
    std::string_view bytes, int64_t max_frames,
    absl::FunctionRef<absl::StatusOr<uint8_t*>(int64_t frames, const ImageSize&)> place);

inline bool IsGif(std::string_view bytes) { return bytes.substr(0, 3) == "GIF"; }

}  // namespace sluice

#endif  // SLUICE_OPS_IMAGE_GIF_H_
