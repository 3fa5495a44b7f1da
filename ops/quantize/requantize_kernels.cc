// Kernels of Requantize, RequantizationRange and QuantizeDownAndShrinkRange, which convert 32 bits
// to 8 bits.
#include <algorithm>
#include <limits>

#include "executor/kernel/context.h"
#include "ops/loops/wrapping.h"
#include "ops/quantize/integer_range.h"

namespace sluice {
namespace {

// Converts 32-bit integers of one range to 8-bit integers of another. Computes with 16 bits after
// the point.
class Narrowing {
 public:
  Narrowing(NumberRange from, NumberRange to) {
    const float in = from.max - from.min, out = to.max - to.min;
    const float center = (from.min + from.max) / 2.0;
    const float per_level = out == 0.0 ? 0.0 : 255.0 / out;
    const int64_t offset_in = ToInt64(center * per_level * kOne);
    const int64_t offset_out = out == 0.0 ? 0 : ToInt64(kOne * (to.min * 255.0) / out);
    scale_ = out == 0.0 ? 0 : ToInt64(255.0 * kOne * in / out);
    offset_ = WrappingAdd(WrappingSubtract(offset_in, offset_out), int64_t{kOne / 2});
  }
  uint8_t operator()(int32_t q) const {
    const int64_t fixed = WrappingAdd(WrappingMultiply<int64_t>(q, scale_) >> 32, offset_) >> kBits;
    return static_cast<uint8_t>(std::clamp<int64_t>(fixed, 0, 255));
  }

 private:
  static constexpr int kBits = 16;
  static constexpr int kOne = 1 << kBits;
  int64_t scale_, offset_;
};

void Requantized(KernelContext& c, NumberRange from, NumberRange to, Tensor* out) {
  const Narrowing narrow(from, to);
  const int32_t* in = IntegersOf<int32_t>(c.input(0));
  auto* y = IntegersOf<uint8_t>(out);
  c.ParallelFor(out->num_elements(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = narrow(in[i]);
  });
}

// Returns the range that the numbers of input 0 cover. As in TensorFlow, its minimum is at most 0.
NumberRange CoveredRange(const KernelContext& c, NumberRange given) {
  int32_t least = std::numeric_limits<int32_t>::max(), most = std::numeric_limits<int32_t>::min();
  const int32_t* in = IntegersOf<int32_t>(c.input(0));
  for (int64_t i = 0; i < c.input(0).num_elements(); ++i) {
    least = std::min(least, in[i]);
    most = std::max(most, in[i]);
  }
  return {std::min(0.0f, Number(least, given)), Number(most, given)};
}

absl::Status Requantize(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const NumberRange from, RangeInput(c, 1));
  SLUICE_ASSIGN_OR_RETURN(const NumberRange to, RangeInput(c, 3));
  SLUICE_INVALID_IF(!(to.min <= 0.0f), "Requantize node '", c.name(),
                    "': requested_output_min must be <= 0, but got ", to.min);
  SLUICE_INVALID_IF(!(to.max >= to.min), "Requantize node '", c.name(),
                    "': requested_output_max must be >= requested_output_min, but got ", to.max,
                    " and ", to.min);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, c.input(0).shape()));
  Requantized(c, from, to, out);
  return SetRange(c, to);
}
KERNEL(Requantize, FunctionKernel<Requantize>, {"Tinput", DT_QINT32}, {"out_type", DT_QUINT8});

absl::Status RequantizationRange(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const NumberRange given, RangeInput(c, 1));
  return SetRange(c, CoveredRange(c, given), 0);
}
KERNEL(RequantizationRange, FunctionKernel<RequantizationRange>, {"Tinput", DT_QINT32});

absl::Status QuantizeDownAndShrinkRange(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const NumberRange given, RangeInput(c, 1));
  const NumberRange covered = CoveredRange(c, given);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, c.input(0).shape()));
  Requantized(c, given, covered, out);
  return SetRange(c, covered);
}
KERNEL(QuantizeDownAndShrinkRange, FunctionKernel<QuantizeDownAndShrinkRange>,
       {"Tinput", DT_QINT32}, {"out_type", DT_QUINT8});

}  // namespace
}  // namespace sluice
