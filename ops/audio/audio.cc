// Ops that decode and encode WAV files.
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status DecodeWavShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(0, 0).status());
  const auto channels = c.attr<int64_t>("desired_channels");
  const auto samples = c.attr<int64_t>("desired_samples");
  SLUICE_INVALID_IF(channels < -1, "channels must be non-negative, got ", channels);
  SLUICE_INVALID_IF(samples < -1, "samples must be non-negative, got ", samples);
  SLUICE_RETURN_IF_ERROR(c.SetOutput(0, PartialShape::Matrix(samples, channels)));
  return c.SetOutput(1, PartialShape::Scalar());
}

OP(DecodeWav,
   "Decodes a 16-bit WAV file to [samples, channels] in [-1, 1). Missing samples are zero, and "
   "missing channels are copies of the last one.")
    .Input("contents", DT_STRING)
    .Output("audio", DT_FLOAT)
    .Output("sample_rate", DT_INT32)
    .Attr("desired_channels", IntAttr(-1))
    .Attr("desired_samples", IntAttr(-1))
    .Shape(DecodeWavShape);

OP(EncodeWav, "Encodes samples as a 16-bit WAV file, and clamps them to [-1, 1].")
    .Input("audio", DT_FLOAT)
    .Input("sample_rate", DT_INT32)
    .Output("contents", DT_STRING)
    .Shape([](ShapeContext& c) {
      SLUICE_RETURN_IF_ERROR(c.WithRank(0, 2).status());
      SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
      return c.SetOutput(0, PartialShape::Scalar());
    });

}  // namespace
}  // namespace sluice
