// Kernels of QuantizedAdd and QuantizedBiasAdd. The range of the sum is so wide that the sum of
// both terms cannot overflow.
#include <algorithm>
#include <cmath>

#include "executor/kernel/context.h"
#include "ops/loops/broadcast.h"
#include "ops/loops/wrapping.h"
#include "ops/quantize/integer_range.h"

namespace sluice {
namespace {

// Converts 8-bit integers to 32-bit integers of the sum's range. Like TensorFlow, it rounds the
// only element of a tensor exactly, and the elements of other tensors to multiples of a rounded
// step.
class Widening {
 public:
  Widening(NumberRange from, NumberRange to, bool is_single)
      : is_single_(is_single),
        from_(from),
        to_(to),
        first_(QuantizedUnclamped<int32_t>(Number<uint8_t>(0, from), to)),
        step_(static_cast<int32_t>(
            WrappingSubtract(QuantizedUnclamped<int32_t>(Number<uint8_t>(1, from), to), first_))) {}
  int32_t operator()(uint8_t q) const {
    if (is_single_) return Quantized<int32_t>(Number(q, from_), to_);
    const int64_t wide = WrappingAdd(first_, WrappingMultiply<int64_t>(q, step_));
    return static_cast<int32_t>(
        std::clamp(wide, kLowestInteger<int32_t>, kHighestInteger<int32_t>));
  }

 private:
  const bool is_single_;
  const NumberRange from_, to_;
  const int64_t first_;
  const int32_t step_;
};

absl::Status QuantizedAdd(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const NumberRange of_x, RangeInput(c, 2));
  SLUICE_ASSIGN_OR_RETURN(const NumberRange of_y, RangeInput(c, 4));
  SLUICE_ASSIGN_OR_RETURN(const auto plan,
                          PlanBroadcast<2>({&c.input(0).shape(), &c.input(1).shape()}));
  SLUICE_INVALID_IF(!(of_x.max > of_x.min), "QuantizedAdd node '", c.name(),
                    "': max_x must be larger than min_x, got ", of_x.max, " and ", of_x.min);
  SLUICE_INVALID_IF(!(of_y.max > of_y.min), "QuantizedAdd node '", c.name(),
                    "': max_y must be larger than min_y, got ", of_y.max, " and ", of_y.min);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, plan.shape));
  const float largest =
      std::max(std::abs(std::min(of_x.min, of_y.min)), std::abs(std::max(of_x.max, of_y.max))) *
      (1 << 14);
  const NumberRange of_sum{-largest, largest};
  const bool x_is_single = c.input(0).num_elements() == 1;
  const Widening widen_x(of_x, of_sum, x_is_single);
  const Widening widen_y(of_y, of_sum, !x_is_single && c.input(1).num_elements() == 1);
  const uint8_t *x = IntegersOf<uint8_t>(c.input(0)), *y = IntegersOf<uint8_t>(c.input(1));
  auto* z = IntegersOf<int32_t>(out);
  const int64_t n = plan.inner(), step_x = plan.strides[0].back(), step_y = plan.strides[1].back();
  ForRows(plan, 0, plan.rows(), [&](int64_t row, const std::array<int64_t, 2>& at) {
    for (int64_t i = 0; i < n; ++i) {
      z[row * n + i] = WrappingAdd(widen_x(x[at[0] + i * step_x]), widen_y(y[at[1] + i * step_y]));
    }
  });
  return SetRange(c, of_sum);
}
KERNEL(QuantizedAdd, FunctionKernel<QuantizedAdd>, {"T1", DT_QUINT8}, {"T2", DT_QUINT8},
       {"Toutput", DT_QINT32});

template <typename T>
absl::Status QuantizedBiasAdd(KernelContext& c) {
  const Tensor &in = c.input(0), &bias = c.input(1);
  SLUICE_ASSIGN_OR_RETURN(const NumberRange of_in, RangeInput(c, 2));
  SLUICE_ASSIGN_OR_RETURN(const NumberRange of_bias, RangeInput(c, 4));
  SLUICE_INVALID_IF(in.rank() < 2, "QuantizedBiasAdd node '", c.name(),
                    "': Input tensor must be at least 2D: ", in.shape().ToString());
  SLUICE_INVALID_IF(bias.rank() != 1, "QuantizedBiasAdd node '", c.name(),
                    "': Biases must be 1D: ", bias.shape().ToString());
  SLUICE_INVALID_IF(bias.dim(0) != in.dim(in.rank() - 1), "QuantizedBiasAdd node '", c.name(),
                    "': Must provide as many biases as the last dimension of the input tensor: ",
                    bias.shape().ToString(), " vs. ", in.shape().ToString());
  SLUICE_INVALID_IF(bias.num_elements() == 0, "QuantizedBiasAdd node '", c.name(),
                    "': Must provide at least 1 bias");
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, in.shape()));
  const float largest = std::max({of_in.max, -of_in.min, of_bias.max, -of_bias.min}) * (1 << 17);
  const NumberRange of_sum{-largest, largest};
  const ToInteger<int32_t> quantize(of_sum);
  const ToNumber<T> number_of_in(of_in), number_of_bias(of_bias);
  const auto zero = Quantized<int32_t>(0.0f, of_sum);
  const T *x = IntegersOf<T>(in), *b = IntegersOf<T>(bias);
  auto* y = IntegersOf<int32_t>(out);
  const int64_t n = bias.num_elements();
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    y[i] = WrappingAdd(quantize(number_of_in(x[i])),
                       WrappingAdd(quantize(number_of_bias(b[i % n])), zero));
  }
  return SetRange(c, of_sum);
}
KERNEL(QuantizedBiasAdd, FunctionKernel<QuantizedBiasAdd<uint8_t>>, {"T1", DT_QUINT8},
       {"T2", DT_QUINT8}, {"out_type", DT_QINT32});
KERNEL(QuantizedBiasAdd, FunctionKernel<QuantizedBiasAdd<int8_t>>, {"T1", DT_QINT8},
       {"T2", DT_QINT8}, {"out_type", DT_QINT32});

}  // namespace
}  // namespace sluice
