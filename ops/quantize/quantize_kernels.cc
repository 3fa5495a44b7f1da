// Kernels of QuantizeV2 and Dequantize.
#include <algorithm>
#include <cmath>
#include <limits>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/quantize/channels.h"

namespace sluice {
namespace {

template <typename T>
constexpr double kLeast = std::numeric_limits<T>::lowest();
template <typename T>
constexpr double kMost = std::numeric_limits<T>::max();
// The number of steps from the lower end of the range to an integer, minus the integer. It is 0 for
// unsigned types.
template <typename T>
constexpr float kHalfRange = std::numeric_limits<T>::is_signed
                                 ? static_cast<float>((kMost<T> - kLeast<T> + 1) / 2)
                                 : 0.0f;

enum class Mode { kMinCombined, kMinFirst, kScaled };
Mode ModeOf(const std::string& name) {
  return name == "MIN_FIRST" ? Mode::kMinFirst
         : name == "SCALED"  ? Mode::kScaled
                             : Mode::kMinCombined;
}

struct Range {
  float low, high;
};

absl::Status CheckRanges(const Tensor& low, const Tensor& high, int64_t channels) {
  for (const Tensor* t : {&low, &high}) {
    if (t->num_elements() == channels) continue;
    return InvalidArgument(
        "min_range and max_range must have as many elements as the input on the "
        "axis, ",
        channels, ", got ", t->num_elements());
  }
  return absl::OkStatus();
}

// Clamps `v` to the range of T. NaN yields the lowest number.
template <typename T>
T Saturated(float v) {
  // The limit is the largest float below 2^31: the greatest int32 is not a float, and 2^31 would
  // overflow.
  const double most = std::min(kMost<T>, 2147483520.0);
  return static_cast<T>(std::max(std::min(static_cast<double>(v), most), kLeast<T>));
}

// Quantises the numbers of one channel.
template <typename T>
class Quantizer {
 public:
  Quantizer(Mode mode, bool is_narrow, bool rounds_to_even, float least_range, Range range)
      : mode_(mode), rounds_to_even_(rounds_to_even) {
    range_.low = std::min(0.0f, range.low);
    const float epsilon =
        std::max(1.0f, std::max(std::abs(range.low), std::abs(range.high))) * least_range;
    range_.high = std::max(0.0f, std::max(range.high, range_.low + epsilon));
    switch (mode) {
      case Mode::kMinCombined:
        scale_ = static_cast<float>((kMost<T> - kLeast<T>) / (range_.high - range_.low));
        break;
      case Mode::kMinFirst:
        scale_ = static_cast<float>((kMost<T> - kLeast<T>) / (range_.high - range_.low));
        first_ = std::round(range_.low * scale_) - static_cast<float>(kLeast<T>);
        break;
      case Mode::kScaled: {
        const auto least = static_cast<float>(kLeast<T> + (is_narrow ? 1 : 0));
        const auto most = static_cast<float>(kMost<T>);
        constexpr float kNone = std::numeric_limits<float>::max();
        scale_ = std::min(least * range_.low > 0 ? least / range_.low : kNone,
                          most * range_.high > 0 ? most / range_.high : kNone);
        range_ = {least / scale_, most / scale_};
        break;
      }
    }
  }

  const Range& range() const { return range_; }

  T operator()(float x) const {
    const float inside = std::max(std::min(x, range_.high), range_.low);
    switch (mode_) {
      case Mode::kMinCombined: {
        const float steps = (inside - range_.low) * scale_;
        if constexpr (std::numeric_limits<T>::is_signed) {
          return Saturated<T>(std::round(steps - kHalfRange<T>));
        } else {
          return Saturated<T>(std::trunc(steps + 0.5f));
        }
      }
      case Mode::kMinFirst:
        return Saturated<T>(std::round(x * scale_) - first_);
      case Mode::kScaled:
        break;
    }
    const float steps = inside * scale_;
    return Saturated<T>(rounds_to_even_ ? std::nearbyint(steps) : std::round(steps));
  }

 private:
  const Mode mode_;
  const bool rounds_to_even_;
  Range range_;
  float scale_ = 1, first_ = 0;
};

template <typename T>
class QuantizeKernel : public Kernel {
 public:
  explicit QuantizeKernel(KernelInit& init)
      : mode_(ModeOf(init.attr<std::string>("mode"))),
        rounds_to_even_(init.attr<std::string>("round_mode") == "HALF_TO_EVEN"),
        is_narrow_(init.attr<bool>("narrow_range")),
        axis_(init.attr<int64_t>("axis")),
        least_range_(init.attr<float>("ensure_minimum_range")) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_INVALID_IF(rounds_to_even_ && mode_ != Mode::kScaled,
                      "Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED'");
    const Tensor &in = c.input(0), &low = c.input(1), &high = c.input(2);
    SLUICE_ASSIGN_OR_RETURN(const ChannelSlices slices, ChannelSlices::Of(in.shape(), axis_));
    SLUICE_RETURN_IF_ERROR(CheckRanges(low, high, slices.channels));
    if (slices.channels != 1 && mode_ == Mode::kMinFirst) {
      return absl::UnimplementedError(
          "MIN_FIRST mode is not implemented for Quantize with axis != -1.");
    }
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, in.shape()));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out_low, c.AllocateOutput(1, low.shape()));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out_high, c.AllocateOutput(2, low.shape()));
    T* to = static_cast<T*>(out->raw());
    const float* from = in.data<float>();
    for (int64_t k = 0; k < slices.channels; ++k) {
      const Range given{low.data<float>()[k], high.data<float>()[k]};
      SLUICE_INVALID_IF(given.high < given.low,
                        "input_max_range must be larger than input_min_range, got ", given.high,
                        " and ", given.low);
      const Quantizer<T> quantize(mode_, is_narrow_, rounds_to_even_, least_range_, given);
      out_low->data<float>()[k] = quantize.range().low;
      out_high->data<float>()[k] = quantize.range().high;
      slices.ForChannel(k, [&](int64_t first, int64_t n) {
        c.ParallelFor(n, 2, [&](int64_t begin, int64_t end) {
          for (int64_t i = first + begin; i < first + end; ++i) to[i] = quantize(from[i]);
        });
      });
    }
    return absl::OkStatus();
  }

 private:
  const Mode mode_;
  const bool rounds_to_even_, is_narrow_;
  const int64_t axis_;
  const float least_range_;
};

// A function by which the integer q represents q * scale + offset.
struct Line {
  float scale, offset;
};

template <typename T>
Line LineOf(Mode mode, bool is_narrow, Range range) {
  const auto steps = static_cast<float>(kMost<T>) - static_cast<float>(kLeast<T>);
  switch (mode) {
    case Mode::kMinCombined: {
      const float scale = (range.high - range.low) / steps;
      return {scale, range.low};
    }
    case Mode::kMinFirst: {
      const auto scale = static_cast<float>((range.high - range.low) / (kMost<T> - kLeast<T>));
      const float first =
          range.high == range.low ? range.low : std::round(range.low / scale) * scale;
      return {scale, first - static_cast<float>(kLeast<T>) * scale};
    }
    case Mode::kScaled:
      break;
  }
  const auto least = static_cast<float>(kLeast<T> + (is_narrow ? 1 : 0));
  const float from_high = range.high / static_cast<float>(kMost<T>);
  return {kLeast<T> == 0 ? from_high : std::max(range.low / least, from_high), 0};
}

template <typename T, typename Out>
class DequantizeKernel : public Kernel {
 public:
  explicit DequantizeKernel(KernelInit& init)
      : mode_(ModeOf(init.attr<std::string>("mode"))),
        is_narrow_(init.attr<bool>("narrow_range")),
        axis_(init.attr<int64_t>("axis")) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_INVALID_IF(kIsFloat16<Out> && mode_ != Mode::kMinCombined,
                      "When output type is bfloat16, mode must be 'MIN_COMBINED'");
    const Tensor &in = c.input(0), &low = c.input(1), &high = c.input(2);
    SLUICE_ASSIGN_OR_RETURN(const ChannelSlices slices, ChannelSlices::Of(in.shape(), axis_));
    SLUICE_RETURN_IF_ERROR(CheckRanges(low, high, slices.channels));
    if (slices.channels != 1 && mode_ == Mode::kMinFirst) {
      return absl::UnimplementedError(
          "MIN_FIRST mode is not implemented for Dequantize with axis != -1.");
    }
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, in.shape()));
    const T* from = static_cast<const T*>(in.raw());
    Out* to = out->data<Out>();
    const float half = mode_ == Mode::kMinCombined ? kHalfRange<T> : 0.0f;
    for (int64_t k = 0; k < slices.channels; ++k) {
      const Line line = LineOf<T>(mode_, is_narrow_, {low.data<float>()[k], high.data<float>()[k]});
      slices.ForChannel(k, [&](int64_t first, int64_t n) {
        c.ParallelFor(n, 1, [&](int64_t begin, int64_t end) {
          for (int64_t i = first + begin; i < first + end; ++i) {
            to[i] = Out((static_cast<float>(from[i]) + half) * line.scale + line.offset);
          }
        });
      });
    }
    return absl::OkStatus();
  }

 private:
  const Mode mode_;
  const bool is_narrow_;
  const int64_t axis_;
};

// Registers the kernels of a quantised type, given the C++ type of its elements.
#define SLUICE_QUANTIZED(quantized, stored)                                       \
  KERNEL(QuantizeV2, QuantizeKernel<stored>, {"T", quantized});                   \
  using Dequantize_##stored = DequantizeKernel<stored, float>;                    \
  using DequantizeToHalf_##stored = DequantizeKernel<stored, bfloat16>;           \
  KERNEL(Dequantize, Dequantize_##stored, {"T", quantized}, {"dtype", DT_FLOAT}); \
  KERNEL(Dequantize, DequantizeToHalf_##stored, {"T", quantized}, {"dtype", DT_BFLOAT16})
SLUICE_QUANTIZED(DT_QINT8, int8_t);
SLUICE_QUANTIZED(DT_QUINT8, uint8_t);
SLUICE_QUANTIZED(DT_QINT16, int16_t);
SLUICE_QUANTIZED(DT_QUINT16, uint16_t);
SLUICE_QUANTIZED(DT_QINT32, int32_t);
#undef SLUICE_QUANTIZED

}  // namespace
}  // namespace sluice
