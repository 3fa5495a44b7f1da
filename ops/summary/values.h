// Tensors as values of summaries, shared by the ops that return a Summary and those that write one.
//
// Texts of errors are TensorFlow's; callers put the op and node in front.
#ifndef SLUICE_OPS_SUMMARY_VALUES_H_
#define SLUICE_OPS_SUMMARY_VALUES_H_

#include <string>

#include "absl/status/status.h"
#include "graph/format/proto/summary.pb.h"
#include "graph/tensor/tensor.h"

namespace sluice {

// Element i of a tensor of real numbers (or bool) as a double.
double ElementAsDouble(const Tensor& tensor, int64_t i);

// A histogram of all elements. INVALID_ARGUMENT on NaN and infinity; `name` is what the text says.
absl::Status AddHistogram(const Tensor& values, const std::string& tag, const std::string& name,
                          pb::Summary* summary);

// `<tag>/image` (at most one) or `<tag>/image/0`, …: PNG images of a 4-D tensor, [batch, height,
// width, channels] with 1, 3 or 4 channels. Numbers that are not uint8 are scaled, each image for
// itself: without negative ones so that the largest is 255, else around 128; where a pixel is not
// finite it becomes `bad_color` (uint8, a value a channel).
absl::Status AddImages(const Tensor& images, const std::string& tag, int64_t max_images,
                       const Tensor& bad_color, pb::Summary* summary);

// `<tag>/audio` or `<tag>/audio/0`, …: 16-bit WAV of [batch, frames] or [batch, frames, channels].
absl::Status AddAudio(const Tensor& samples, const std::string& tag, int64_t max_outputs,
                      float sample_rate, pb::Summary* summary);

}  // namespace sluice

#endif  // SLUICE_OPS_SUMMARY_VALUES_H_
