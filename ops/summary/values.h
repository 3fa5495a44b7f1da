// Converts tensors to values of summaries, for ops that return a Summary and ops that write one.
//
// Errors: INVALID_ARGUMENT with TensorFlow's texts, to which the caller adds the op and the node.
#ifndef SLUICE_OPS_SUMMARY_VALUES_H_
#define SLUICE_OPS_SUMMARY_VALUES_H_

#include <string>

#include "absl/status/status.h"
#include "graph/format/proto/summary.pb.h"
#include "graph/tensor/tensor.h"

namespace sluice {

// Element i of a tensor of real numbers (or bool) as a double.
double ElementAsDouble(const Tensor& tensor, int64_t i);

// Adds a histogram of all elements. If one is NaN or infinite: INVALID_ARGUMENT, with `name` in the
// text.
absl::Status AddHistogram(const Tensor& values, const std::string& tag, const std::string& name,
                          pb::Summary* summary);

// Adds PNG images `<tag>/image` (if max_images is 1) or `<tag>/image/0`, … of [batch, height,
// width, channels] with 1, 3 or 4 channels. Pixels that are not uint8 are scaled, image by image:
// to [0, 255] if none is negative, and otherwise to [1, 255], where 0 becomes 128. Pixels that are
// not finite become `bad_color` (uint8, one value per channel).
absl::Status AddImages(const Tensor& images, const std::string& tag, int64_t max_images,
                       const Tensor& bad_color, pb::Summary* summary);

// Adds 16-bit WAV files `<tag>/audio` (if max_outputs is 1) or `<tag>/audio/0`, … of [batch,
// frames] or [batch, frames, channels].
absl::Status AddAudio(const Tensor& samples, const std::string& tag, int64_t max_outputs,
                      float sample_rate, pb::Summary* summary);

}  // namespace sluice

#endif  // SLUICE_OPS_SUMMARY_VALUES_H_
