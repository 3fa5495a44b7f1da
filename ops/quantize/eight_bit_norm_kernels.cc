// Kernels of QuantizedBatchNormWithGlobalNormalization and QuantizedInstanceNorm.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "executor/kernel/context.h"
#include "ops/loops/wrapping.h"
#include "ops/quantize/integer_range.h"

namespace sluice {
namespace {

// The function x * scale + offset, in fixed point with a range from -2^20 to 2^20.
struct FixedPointLine {
  int32_t scale, offset;
};

class QuantizedBatchNormKernel : public Kernel {
 public:
  explicit QuantizedBatchNormKernel(const KernelInit& init)
      : epsilon_(init.attr<float>("variance_epsilon")),
        scales_(init.attr<bool>("scale_after_normalization")) {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor& in = c.input(0);
    SLUICE_INVALID_IF(in.rank() != 4, c.node().op(), " node '", c.name(),
                      "': input must be 4-dimensional, got shape ", in.shape().ToString());
    SLUICE_ASSIGN_OR_RETURN(const std::vector<FixedPointLine> lines, LinesOf(c, in.dim(3)));
    SLUICE_ASSIGN_OR_RETURN(const NumberRange of_in, RangeInput(c, 1));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, in.shape()));
    const uint8_t* x = IntegersOf<uint8_t>(in);
    auto* y = IntegersOf<int32_t>(out);
    const auto one = Quantized<int32_t>(1.0f, kRange);
    const int64_t channels = in.dim(3);
    for (int64_t i = 0; i < in.num_elements(); ++i) {
      const FixedPointLine& line = lines[i % channels];
      const auto wide = Quantized<int32_t>(Number(x[i], of_in), kRange);
      y[i] = WrappingAdd(WrappingMultiply(wide, line.scale) / one, line.offset);
    }
    return SetRange(c, kRange);
  }

 private:
  static constexpr NumberRange kRange = {-(1 << 20), 1 << 20};

  // Returns a line for each channel.
  absl::StatusOr<std::vector<FixedPointLine>> LinesOf(KernelContext& c, int64_t channels) const {
    static const char* const kNames[] = {"mean", "var", "beta", "gamma"};
    const uint8_t* values[4];
    NumberRange ranges[4];
    for (int k = 0; k < 4; ++k) {
      const Tensor& t = c.input(3 + 3 * k);
      SLUICE_INVALID_IF(t.rank() != 1, c.node().op(), " node '", c.name(), "': ", kNames[k],
                        " must be 1-dimensional, got shape ", t.shape().ToString());
      SLUICE_INVALID_IF(t.dim(0) != channels, c.node().op(), " node '", c.name(), "': ", kNames[k],
                        " must have as many elements as the last dimension of the input, ",
                        channels, ", got ", t.dim(0));
      values[k] = IntegersOf<uint8_t>(t);
      SLUICE_ASSIGN_OR_RETURN(ranges[k], RangeInput(c, 4 + 3 * k));
    }
    std::vector<FixedPointLine> lines(static_cast<size_t>(channels));
    for (int64_t i = 0; i < channels; ++i) {
      const float mean = Number(values[0][i], ranges[0]), var = Number(values[1][i], ranges[1]);
      const float beta = Number(values[2][i], ranges[2]), gamma = Number(values[3][i], ranges[3]);
      float scale = 1.0f / std::sqrt(var + epsilon_);
      if (scales_) scale *= gamma;
      lines[i] = {Quantized<int32_t>(scale, kRange),
                  Quantized<int32_t>(-mean * scale + beta, kRange)};
    }
    return lines;
  }

  const float epsilon_;
  const bool scales_;
};
KERNEL(QuantizedBatchNormWithGlobalNormalization, QuantizedBatchNormKernel, {"Tinput", DT_QUINT8},
       {"out_type", DT_QINT32});

class QuantizedInstanceNormKernel : public Kernel {
 public:
  explicit QuantizedInstanceNormKernel(const KernelInit& init)
      : is_given_(init.attr<bool>("output_range_given")),
        given_{init.attr<float>("given_y_min"), init.attr<float>("given_y_max")},
        epsilon_(init.attr<float>("variance_epsilon")),
        min_separation_(init.attr<float>("min_separation")) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_INVALID_IF(is_given_ && !(given_.min < given_.max), "QuantizedInstanceNorm node '",
                      c.name(), "': given_y_min must be less than given_y_max : ", given_.min,
                      " >= ", given_.max);
    for (int i : {1, 2}) {
      SLUICE_INVALID_IF(c.input(i).rank() != 0, "QuantizedInstanceNorm node '", c.name(), "': `",
                        i == 1 ? "x_min" : "x_max", "` must be rank 0 but is rank ",
                        c.input(i).rank());
    }
    SLUICE_ASSIGN_OR_RETURN(const NumberRange of_x, RangeInput(c, 1));
    SLUICE_INVALID_IF(!(of_x.min < of_x.max), "QuantizedInstanceNorm node '", c.name(),
                      "': input_min must be less than input_max : ", of_x.min, " >= ", of_x.max);
    const Tensor& in = c.input(0);
    SLUICE_INVALID_IF(in.rank() != 4, "QuantizedInstanceNorm node '", c.name(),
                      "': input must be 4-dimensional, got shape ", in.shape().ToString());
    SLUICE_ASSIGN_OR_RETURN(Tensor normed, c.AllocateTemp(DT_FLOAT, in.shape()));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, in.shape()));
    const float step = (of_x.max - of_x.min) / 255.0f;
    const bool is_empty = in.num_elements() == 0;
    const int64_t size = is_empty ? 0 : in.num_elements() / in.dim(0);
    for (int64_t i = 0; i < in.dim(0) && !is_empty; ++i) {
      Normalize(IntegersOf<uint8_t>(in) + i * size, in.dim(1) * in.dim(2), in.dim(3), step,
                normed.data<float>() + i * size);
    }
    const NumberRange range = RangeOf(normed);
    const ToInteger<uint8_t> quantize(range);
    auto* y = IntegersOf<uint8_t>(out);
    for (int64_t i = 0; i < in.num_elements(); ++i) y[i] = quantize(normed.data<float>()[i]);
    return SetRange(c, range);
  }

 private:
  // Normalizes the channels of one image.
  void Normalize(const uint8_t* x, int64_t pixels, int64_t channels, float step, float* y) const {
    for (int64_t k = 0; k < channels; ++k) {
      double sum = 0, squares = 0;
      for (int64_t p = 0; p < pixels; ++p) sum += x[p * channels + k];
      const auto mean = static_cast<float>(sum / static_cast<double>(pixels));
      for (int64_t p = 0; p < pixels; ++p) {
        const float d = step * (static_cast<float>(x[p * channels + k]) - mean);
        squares += d * d;
      }
      const auto variance = static_cast<float>(squares / static_cast<double>(pixels));
      const float scale = 1.0f / std::sqrt(variance + epsilon_);
      for (int64_t p = 0; p < pixels; ++p) {
        const int64_t i = p * channels + k;
        y[i] = step * (static_cast<float>(x[i]) - mean) * scale;
      }
    }
  }

  NumberRange RangeOf(const Tensor& normed) const {
    NumberRange range = given_;
    if (!is_given_) {
      constexpr float kInfinity = std::numeric_limits<float>::infinity();
      range = {kInfinity, -kInfinity};
      for (float v : normed.flat<float>()) {
        range = {std::min(range.min, v), std::max(range.max, v)};
      }
    }
    if (range.max - range.min < min_separation_) range.max = range.min + min_separation_;
    return range;
  }

  const bool is_given_;
  const NumberRange given_;
  const float epsilon_, min_separation_;
};
KERNEL(QuantizedInstanceNorm, QuantizedInstanceNormKernel, {"T", DT_QUINT8});

}  // namespace
}  // namespace sluice
