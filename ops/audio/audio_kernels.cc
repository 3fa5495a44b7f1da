// Kernels that decode and encode WAV files.
#include <algorithm>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/audio/wav.h"

namespace sluice {
namespace {

absl::Status DecodeWavOp(KernelContext& c) {
  SLUICE_RETURN_IF_ERROR(ExpectRank(c.input(0), 0, "contents must be scalar, got shape "));
  SLUICE_ASSIGN_OR_RETURN(const Wav wav, DecodeWav(c.input(0).scalar<std::string>()));
  const int64_t has_rows = static_cast<int64_t>(wav.samples.size()) / wav.channels;
  const auto desired_rows = c.node().AttrOr<int64_t>("desired_samples", -1);
  const auto desired_channels = c.node().AttrOr<int64_t>("desired_channels", -1);
  const int64_t rows = desired_rows == -1 ? has_rows : desired_rows;
  const int64_t channels = desired_channels == -1 ? wav.channels : desired_channels;
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make({rows, channels}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  // Avoids a long loop: if there are no channels, `rows` can be any number.
  const int64_t filled = shape.num_elements() == 0 ? 0 : rows;
  for (int64_t row = 0; row < filled; ++row) {
    for (int64_t channel = 0; channel < channels; ++channel) {
      const int64_t from = std::min(channel, wav.channels - 1);
      out->data<float>()[row * channels + channel] =
          row < has_rows ? wav.samples[static_cast<size_t>(row * wav.channels + from)] : 0.0f;
    }
  }
  c.set_output(1, Tensor::Scalar<int32_t>(static_cast<int32_t>(wav.rate)));
  return absl::OkStatus();
}

absl::Status EncodeWavOp(KernelContext& c) {
  const Tensor& audio = c.input(0);
  const Tensor& rate = c.input(1);
  SLUICE_RETURN_IF_ERROR(ExpectRank(audio, 2, "audio must be 2-dimensional"));
  SLUICE_INVALID_IF(rate.rank() != 0, "Input sample_rate should be a scalar tensor, got ",
                    rate.shape().ToString(), " instead.");
  SLUICE_ASSIGN_OR_RETURN(std::string bytes,
                          EncodeWav(audio.flat<float>(), rate.scalar<int32_t>(), audio.dim(1)));
  c.set_output(0, Tensor::Scalar(std::move(bytes)));
  return absl::OkStatus();
}

KERNEL(DecodeWav, FunctionKernel<DecodeWavOp>);
KERNEL(EncodeWav, FunctionKernel<EncodeWavOp>);

}  // namespace
}  // namespace sluice
