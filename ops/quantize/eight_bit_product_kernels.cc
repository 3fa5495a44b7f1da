// Kernels of QuantizedConv2D, QuantizedMatMul and QuantizedMul, which compute exact products of
// 8-bit integers in 32 bits.
#include <algorithm>

#include "executor/kernel/context.h"
#include "ops/conv/conv_geometry.h"
#include "ops/conv/convolve.h"
#include "ops/loops/broadcast.h"
#include "ops/loops/wrapping.h"
#include "ops/matmul/gemm.h"
#include "ops/quantize/integer_range.h"

namespace sluice {
namespace {

// Returns the integer that represents 0. As in TensorFlow, it may be out of range, and arithmetic
// with it wraps around.
int32_t ZeroOf(NumberRange r) { return static_cast<int32_t>(QuantizedUnclamped<uint8_t>(0, r)); }

// Returns the integers of `t` minus `zero`.
absl::StatusOr<Tensor> Centered(KernelContext& c, const Tensor& t, int32_t zero) {
  SLUICE_ASSIGN_OR_RETURN(Tensor wide, c.AllocateTemp(DT_INT32, t.shape()));
  const uint8_t* from = IntegersOf<uint8_t>(t);
  int32_t* to = wide.data<int32_t>();
  c.ParallelFor(t.num_elements(), 0.2, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = WrappingSubtract<int32_t>(from[i], zero);
  });
  return wide;
}

NumberRange RangeOfSums(NumberRange a, NumberRange b) {
  return RangeOfProduct<uint8_t, uint8_t, int32_t>(a, b);
}

class QuantizedConvKernel : public Kernel {
 public:
  explicit QuantizedConvKernel(const KernelInit& init) : attrs_(WindowAttrs::Of(init.node())) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_RETURN_IF_ERROR(attrs_.status());
    SLUICE_RETURN_IF_ERROR(CheckAttrs());
    const Tensor &in = c.input(0), &filter = c.input(1);
    SLUICE_INVALID_IF(in.rank() != 4, "QuantizedConv2D node '", c.name(),
                      "': input must be rank 4 but is rank ", in.rank());
    SLUICE_INVALID_IF(filter.rank() != 4, "QuantizedConv2D node '", c.name(),
                      "': filter must be rank 4 but is rank ", filter.rank());
    SLUICE_ASSIGN_OR_RETURN(const NumberRange of_in, RangeInput(c, 2));
    SLUICE_ASSIGN_OR_RETURN(const NumberRange of_filter, RangeInput(c, 4));
    SLUICE_INVALID_IF(in.dim(3) != filter.dim(2), "QuantizedConv2D node '", c.name(),
                      "': input and filter must have the same depth: ", in.dim(3), " vs ",
                      filter.dim(2));
    SLUICE_ASSIGN_OR_RETURN(WindowGeometry g, ConvGeometryOf(*attrs_, in.shape(), filter.shape()));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, attrs_->OutputShape(g));
    SLUICE_INVALID_IF(shape.num_elements() == 0, "QuantizedConv2D node '", c.name(),
                      "': the output must not be empty, got shape ", shape.ToString());
    // Unlike Conv2D, TensorFlow centers the windows for both kinds of padding.
    const int64_t odd = attrs_->along[0].padding == Padding::kValid ? 1 : 0;
    for (int d : {1, 2}) {
      g.pad[d] = ((g.out[d] - 1) * g.stride[d] + g.window[d] - g.in[d] + odd) / 2;
    }
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    SLUICE_RETURN_IF_ERROR(Sum(c, g, ZeroOf(of_in), ZeroOf(of_filter), out));
    return SetRange(c, RangeOfSums(of_in, of_filter));
  }

 private:
  absl::Status CheckAttrs() const {
    const WindowAttrs& a = *attrs_;
    SLUICE_INVALID_IF(
        a.strides[1] != a.strides[2],
        "Current implementation only supports equal length strides in the row and column "
        "dimensions.");
    SLUICE_RETURN_IF_ERROR(a.CheckOnlySpatial());
    SLUICE_INVALID_IF(
        a.dilations[1] != 1 || a.dilations[2] != 1,
        "Current implementation only supports dilated rate as 1 in the row and column dimensions.");
    return absl::OkStatus();
  }

  // Computes the sums. Pixels outside the image are zeros. But if 0 is outside the range,
  // TensorFlow keeps only the lowest 8 bits of the integer for 0, which then represent another
  // number, `outside` steps from zero. Since Convolve pads with 0, its input is the numbers minus
  // `outside`, and the difference is added to the sums.
  static absl::Status Sum(KernelContext& c, const WindowGeometry& g, int32_t zero,
                          int32_t zero_of_filter, Tensor* out) {
    const int32_t outside = zero < 0 ? 0 : WrappingSubtract<int32_t>(zero & 0xff, zero);
    SLUICE_ASSIGN_OR_RETURN(const Tensor x, Centered(c, c.input(0), WrappingAdd(zero, outside)));
    SLUICE_ASSIGN_OR_RETURN(const Tensor w, Centered(c, c.input(1), zero_of_filter));
    auto* sums = IntegersOf<int32_t>(out);
    SLUICE_RETURN_IF_ERROR(Convolve(c, g, x.data<int32_t>(), w.data<int32_t>(), sums, nullptr));
    if (outside == 0) return absl::OkStatus();
    const int64_t n = g.out_channels;
    std::vector<int32_t> of_channel(static_cast<size_t>(n), 0);
    for (int64_t i = 0; i < w.num_elements(); ++i) {
      int32_t& sum = of_channel[i % n];
      sum = WrappingAdd(sum, WrappingMultiply(outside, w.data<int32_t>()[i]));
    }
    for (int64_t i = 0; i < out->num_elements(); ++i) {
      sums[i] = WrappingAdd(sums[i], of_channel[i % n]);
    }
    return absl::OkStatus();
  }

  const absl::StatusOr<WindowAttrs> attrs_;
};
KERNEL(QuantizedConv2D, QuantizedConvKernel, {"Tinput", DT_QUINT8}, {"Tfilter", DT_QUINT8},
       {"out_type", DT_QINT32});

absl::Status QuantizedMatMul(KernelContext& c, Attr<bool, "transpose_a"> transpose_a,
                             Attr<bool, "transpose_b"> transpose_b) {
  const Tensor &a = c.input(0), &b = c.input(1);
  SLUICE_ASSIGN_OR_RETURN(const NumberRange of_a, RangeInput(c, 2));
  SLUICE_ASSIGN_OR_RETURN(const NumberRange of_b, RangeInput(c, 4));
  SLUICE_INVALID_IF(!(of_a.max > of_a.min), "QuantizedMatMul node '", c.name(),
                    "': max_a must be larger than min_a. Got ", of_a.max, " and ", of_a.min);
  SLUICE_INVALID_IF(!(of_b.max > of_b.min), "QuantizedMatMul node '", c.name(),
                    "': max_b must be larger than min_b. Got ", of_b.max, " and ", of_b.min);
  SLUICE_RETURN_IF_ERROR(ExpectRank(a, 2, "In[0] is not a matrix, got shape "));
  SLUICE_RETURN_IF_ERROR(ExpectRank(b, 2, "In[1] is not a matrix, got shape "));
  const int64_t k = a.dim(transpose_a ? 0 : 1);
  SLUICE_INVALID_IF(k != b.dim(transpose_b ? 1 : 0),
                    "Matrix size-incompatible: In[0]: ", a.shape().ToString(),
                    ", In[1]: ", b.shape().ToString());
  const int64_t m = a.dim(transpose_a ? 1 : 0), n = b.dim(transpose_b ? 0 : 1);
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make({m, n}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  SLUICE_ASSIGN_OR_RETURN(const Tensor x, Centered(c, a, ZeroOf(of_a)));
  SLUICE_ASSIGN_OR_RETURN(const Tensor y, Centered(c, b, ZeroOf(of_b)));
  const auto left = transpose_a ? Transposed(x.data<int32_t>(), m) : RowMajor(x.data<int32_t>(), k);
  const auto right =
      transpose_b ? Transposed(y.data<int32_t>(), k) : RowMajor(y.data<int32_t>(), n);
  auto* sums = IntegersOf<int32_t>(out);
  if (k == 0) {
    std::fill_n(sums, out->num_elements(), 0);
  } else if (n > 0) {
    const double cost = 0.3 * static_cast<double>(k) * static_cast<double>(n);
    c.ParallelFor(m, cost, [&](int64_t begin, int64_t end) {
      Gemm(end - begin, n, k, left.FromRow(begin), right, sums + begin * n, n);
    });
  }
  return SetRange(c, RangeOfSums(of_a, of_b));
}
KERNEL(QuantizedMatMul, FunctionKernel<QuantizedMatMul>, {"T1", DT_QUINT8}, {"T2", DT_QUINT8},
       {"Toutput", DT_QINT32});

absl::Status QuantizedMul(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const NumberRange of_x, RangeInput(c, 2));
  SLUICE_ASSIGN_OR_RETURN(const NumberRange of_y, RangeInput(c, 4));
  SLUICE_ASSIGN_OR_RETURN(const auto plan,
                          PlanBroadcast<2>({&c.input(0).shape(), &c.input(1).shape()}));
  SLUICE_INVALID_IF(!(of_x.max > of_x.min), "QuantizedMul node '", c.name(),
                    "': max_x must be larger than min_x, got ", of_x.max, " and ", of_x.min);
  SLUICE_INVALID_IF(!(of_y.max > of_y.min), "QuantizedMul node '", c.name(),
                    "': max_y must be larger than min_y, got ", of_y.max, " and ", of_y.min);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, plan.shape));
  const int32_t zero_x = ZeroOf(of_x), zero_y = ZeroOf(of_y);
  const uint8_t *x = IntegersOf<uint8_t>(c.input(0)), *y = IntegersOf<uint8_t>(c.input(1));
  auto* z = IntegersOf<int32_t>(out);
  const int64_t n = plan.inner(), step_x = plan.strides[0].back(), step_y = plan.strides[1].back();
  ForRows(plan, 0, plan.rows(), [&](int64_t row, const std::array<int64_t, 2>& at) {
    for (int64_t i = 0; i < n; ++i) {
      z[row * n + i] = WrappingMultiply(WrappingSubtract<int32_t>(x[at[0] + i * step_x], zero_x),
                                        WrappingSubtract<int32_t>(y[at[1] + i * step_y], zero_y));
    }
  });
  return SetRange(c, RangeOfSums(of_x, of_y));
}
KERNEL(QuantizedMul, FunctionKernel<QuantizedMul>, {"T1", DT_QUINT8}, {"T2", DT_QUINT8},
       {"Toutput", DT_QINT32});

}  // namespace
}  // namespace sluice
