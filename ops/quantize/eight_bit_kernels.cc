// Kernels of QuantizedRelu, QuantizedRelu6, QuantizedReluX, QuantizedReshape and QuantizedConcat.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "executor/kernel/context.h"
#include "ops/loops/int_tensor.h"
#include "ops/quantize/integer_range.h"

namespace sluice {
namespace {

// The upper limit of an activation.
enum class Limit { kNone, kSix, kInput };

template <typename T, Limit kLimit>
absl::Status QuantizedRelu(KernelContext& c) {
  SLUICE_INVALID_IF(kLimit == Limit::kInput && c.input(1).num_elements() != 1,
                    "QuantizedReluX node '", c.name(),
                    "': max_value must be a scalar, but got shape ", c.input(1).shape().ToString());
  SLUICE_ASSIGN_OR_RETURN(const NumberRange range, RangeInput(c, kLimit == Limit::kInput ? 2 : 1));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.ForwardOrAllocate({0}, 0, c.input(0).shape()));
  const T least = Quantized<T>(0.0f, range);
  const T most =
      kLimit == Limit::kNone
          ? std::numeric_limits<T>::max()
          : Quantized<T>(kLimit == Limit::kSix ? 6.0f : *c.input(1).data<float>(), range);
  const T* x = IntegersOf<T>(c.input(0));
  T* y = IntegersOf<T>(out);
  c.ParallelFor(out->num_elements(), 0.2, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = std::min(std::max(x[i], least), most);
  });
  return SetRange(c, range);
}
#define SLUICE_QUANTIZED_RELU(op, limit)                                   \
  using op##_quint8 = FunctionKernel<QuantizedRelu<uint8_t, limit>>;       \
  using op##_qint32 = FunctionKernel<QuantizedRelu<int32_t, limit>>;       \
  KERNEL(op, op##_quint8, {"Tinput", DT_QUINT8}, {"out_type", DT_QUINT8}); \
  KERNEL(op, op##_qint32, {"Tinput", DT_QINT32}, {"out_type", DT_QINT32})
SLUICE_QUANTIZED_RELU(QuantizedRelu, Limit::kNone);
SLUICE_QUANTIZED_RELU(QuantizedRelu6, Limit::kSix);
SLUICE_QUANTIZED_RELU(QuantizedReluX, Limit::kInput);
#undef SLUICE_QUANTIZED_RELU

// Returns the requested shape, with a size of -1 replaced by the size that fits.
absl::StatusOr<TensorShape> RequestedShape(const Tensor& in, const Tensor& sizes) {
  SLUICE_INVALID_IF(sizes.rank() > 1, "sizes input must be 1-D, not ", sizes.shape().ToString());
  Ints dims = IntsOf(sizes);
  int64_t known = 1;
  int missing = -1;
  for (size_t d = 0; d < dims.size(); ++d) {
    SLUICE_INVALID_IF(dims[d] < -1, "Size ", d, " must be non-negative, not ", dims[d]);
    if (dims[d] >= 0) {
      known = MultiplyWithoutOverflow(known, dims[d]);
      SLUICE_INVALID_IF(known < 0, "Reshape sizes are too large");
      continue;
    }
    SLUICE_INVALID_IF(missing >= 0, "Only one input size may be -1, not both ", missing, " and ",
                      d);
    missing = static_cast<int>(d);
  }
  const int64_t n = in.num_elements();
  if (missing >= 0) {
    SLUICE_INVALID_IF(known == 0 && n > 0,
                      "reshape cannot infer the missing input size for an empty tensor unless all "
                      "specified input sizes are non-zero");
    SLUICE_INVALID_IF(known > 0 && n % known != 0, "Input to reshape is a tensor with ", n,
                      " values, but the requested shape requires a multiple of ", known);
    dims[missing] = known == 0 ? 0 : n / known;
  }
  SLUICE_ASSIGN_OR_RETURN(TensorShape shape, TensorShape::Make(dims));
  SLUICE_INVALID_IF(shape.num_elements() != n, "Input to reshape is a tensor with ", n,
                    " values, but the requested shape has ", shape.num_elements());
  return shape;
}

absl::Status QuantizedReshape(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, RequestedShape(c.input(0), c.input(1)));
  SLUICE_ASSIGN_OR_RETURN(const NumberRange range, RangeInput(c, 2));
  c.set_output(0, c.input(0).Reshaped(shape));
  return SetRange(c, range);
}
KERNEL(QuantizedReshape, FunctionKernel<QuantizedReshape>, {"T", {DT_QUINT8, DT_QINT32}});

// The inputs of a concatenation of `count` tensors, and its result.
struct Concatenation {
  int count, axis;
  int64_t outer;  // the product of the sizes before the axis
  TensorShape shape;
  std::vector<NumberRange> ranges;
  NumberRange range;  // contains all ranges
};

absl::StatusOr<NumberRange> RangeOfValue(KernelContext& c, int value, int count) {
  const Tensor &min = c.input(1 + count + value), &max = c.input(1 + 2 * count + value);
  for (const Tensor* t : {&min, &max}) {
    SLUICE_INVALID_IF(t->num_elements() != 1, "QuantizedConcat node '", c.name(),
                      "': ", t == &min ? "input_mins" : "input_maxes",
                      " each tensor's num elements must be 1, given num elements ",
                      t->num_elements(), " in index ", value);
  }
  return NumberRange{*min.data<float>(), *max.data<float>()};
}

absl::StatusOr<Concatenation> ConcatenationOf(KernelContext& c) {
  const Tensor& axis = c.input(0);
  SLUICE_INVALID_IF(axis.rank() > 0, "Concat dim tensor should be a scalar integer, but got shape ",
                    axis.shape().ToString());
  Concatenation j{
      .count = (c.num_inputs() - 1) / 3,
      .axis = *axis.data<int32_t>(),
      .outer = 1,
      .shape = c.input(1).shape(),
      .ranges = {},
      .range = {std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest()}};
  const int rank = j.shape.rank();
  SLUICE_INVALID_IF(j.axis < 0 || j.axis >= rank,
                    "ConcatOp : Expected concatenating dimensions in the range [0, ", rank,
                    "), but got ", j.axis);
  int64_t total = 0;
  for (int i = 0; i < j.count; ++i) {
    const TensorShape& other = c.input(1 + i).shape();
    SLUICE_INVALID_IF(other.rank() != rank,
                      "ConcatOp : Ranks of all input tensors should match: shape[0] = ",
                      j.shape.ToString(), " vs. shape[", i, "] = ", other.ToString());
    for (int d = 0; d < rank; ++d) {
      SLUICE_INVALID_IF(d != j.axis && other.dim(d) != j.shape.dim(d),
                        "ConcatOp : Dimensions of inputs should match: shape[0] = ",
                        j.shape.ToString(), " vs. shape[", i, "] = ", other.ToString());
    }
    SLUICE_INVALID_IF(__builtin_add_overflow(total, other.dim(j.axis), &total),
                      "ConcatOp : the result is too large");
    SLUICE_ASSIGN_OR_RETURN(const NumberRange range, RangeOfValue(c, i, j.count));
    j.ranges.push_back(range);
    j.range = {std::min(j.range.min, range.min), std::max(j.range.max, range.max)};
  }
  Ints dims(j.shape.dims().begin(), j.shape.dims().end());
  dims[j.axis] = total;
  SLUICE_ASSIGN_OR_RETURN(j.shape, TensorShape::Make(dims));
  // Skips shapes without elements, because the product of their sizes may overflow.
  for (int d = 0; d < j.axis && j.shape.num_elements() > 0; ++d) j.outer *= j.shape.dim(d);
  return j;
}

template <typename T>
absl::Status QuantizedConcat(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(Concatenation j, ConcatenationOf(c));
  if (std::numeric_limits<T>::is_signed) {
    const float largest = std::max(std::abs(j.range.min), std::abs(j.range.max));
    j.range = {-largest, largest};
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, j.shape));
  T* to = IntegersOf<T>(out);
  const ToInteger<T> quantize(j.range);
  const int64_t row = out->num_elements() / std::max<int64_t>(j.outer, 1);
  for (int i = 0; i < j.count && out->num_elements() > 0; ++i) {
    const T* from = IntegersOf<T>(c.input(1 + i));
    const int64_t n = c.input(1 + i).num_elements() / j.outer;
    const ToNumber<T> number(j.ranges[i]);
    const bool is_same = j.ranges[i].min == j.range.min && j.ranges[i].max == j.range.max;
    for (int64_t r = 0; r < j.outer; ++r, from += n) {
      for (int64_t k = 0; k < n; ++k) {
        to[r * row + k] = is_same ? from[k] : quantize(number(from[k]));
      }
    }
    to += n;
  }
  return SetRange(c, j.range);
}
KERNEL(QuantizedConcat, FunctionKernel<QuantizedConcat<uint8_t>>, {"T", DT_QUINT8});
KERNEL(QuantizedConcat, FunctionKernel<QuantizedConcat<int32_t>>, {"T", DT_QINT32});

}  // namespace
}  // namespace sluice
