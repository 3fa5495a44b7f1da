#include <cstring>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/array/range_length.h"
#include "ops/loops/constant_element.h"
#include "ops/loops/elements.h"
#include "ops/loops/int_tensor.h"
#include "ops/loops/strided_copy.h"
#include "ops/loops/wrapping.h"

namespace sluice {
namespace {

constexpr TypeSet kPlain = RealTypes() | ComplexTypes() | TypeSet{DT_BOOL};

absl::Status Zero(KernelContext& c, Tensor* out) {
  if (!IsPlainBytes(out->dtype())) return absl::OkStatus();  // objects are empty already
  char* to = static_cast<char*>(out->raw());
  c.ParallelFor(static_cast<int64_t>(out->bytes()), 0.03, [to](int64_t begin, int64_t end) {
    std::memset(to + begin, 0, static_cast<size_t>(end - begin));
  });
  return absl::OkStatus();
}

absl::StatusOr<TensorShape> ShapeFrom(const Tensor& dims, const char* what) {
  SLUICE_INVALID_IF(dims.rank() != 1, what, " must represent a vector, got shape ",
                    dims.shape().ToString());
  return TensorShape::Make(IntsOf(dims));
}

absl::Status Fill(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, ShapeFrom(c.input(0), "dims"));
  // Accepts a vector of one element, as TensorFlow does for older graphs.
  SLUICE_INVALID_IF(c.input(1).rank() > 1 || c.input(1).num_elements() != 1,
                    "value must represent a scalar, got shape ", c.input(1).shape().ToString());
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  FillElements(c, out->dtype(), c.input(1).raw(), out->raw(), shape.num_elements());
  return absl::OkStatus();
}

absl::Status Empty(KernelContext& c, Attr<bool, "init"> zero) {
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, ShapeFrom(c.input(0), "shape"));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  return zero ? Zero(c, out) : absl::OkStatus();
}

absl::Status ZerosLike(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (!IsPlainBytes(in.dtype())) return c.AllocateOutput(0, in.shape()).status();
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.ForwardOrAllocate({0}, 0, in.shape()));
  return Zero(c, out);
}

absl::Status OnesLike(KernelContext& c) {
  const TensorShape shape = c.input(0).shape();
  const Tensor one = OneElement(c.output_dtype(0), *c.step().allocator);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.ForwardOrAllocate({0}, 0, shape));
  FillElements(c, out->dtype(), one.raw(), out->raw(), shape.num_elements());
  return absl::OkStatus();
}

absl::Status CheckScalar(const Tensor& t, const char* name) {
  // Accepts a vector of one element, as TensorFlow does for older graphs.
  if (t.shape().IsScalar() || (t.rank() == 1 && t.dim(0) == 1)) return absl::OkStatus();
  return InvalidArgument(name, " must be a scalar, not shape ", t.shape().ToString());
}

template <typename T>
absl::Status Range(KernelContext& c) {
  const char* const names[] = {"start", "limit", "delta"};
  for (int i = 0; i < 3; ++i) SLUICE_RETURN_IF_ERROR(CheckScalar(c.input(i), names[i]));
  const T start = c.input(0).scalar<T>(), delta = c.input(2).scalar<T>();
  SLUICE_ASSIGN_OR_RETURN(const int64_t n, RangeLength(start, c.input(1).scalar<T>(), delta));
  SLUICE_INVALID_IF(n < 0, "Requires ((limit - start) / delta) to be an int64");
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, {n}));
  T* to = out->data<T>();
  c.ParallelFor(n, 1, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if constexpr (std::is_integral_v<T>) {
        // The product may overflow even if the sum does not.
        to[i] = WrappingAdd(start, WrappingMultiply(static_cast<T>(i), delta));
      } else if constexpr (kIsFloat16<T>) {
        to[i] = T(static_cast<float>(start) + static_cast<float>(i) * static_cast<float>(delta));
      } else {
        to[i] = start + static_cast<T>(i) * delta;
      }
    }
  });
  return absl::OkStatus();
}

template <typename T>
absl::Status LinSpace(KernelContext& c) {
  const char* const names[] = {"start", "stop", "num"};
  for (int i = 0; i < 3; ++i) SLUICE_RETURN_IF_ERROR(CheckScalar(c.input(i), names[i]));
  const T start = c.input(0).scalar<T>(), stop = c.input(1).scalar<T>();
  const int64_t n = IntAt(c.input(2), 0);
  SLUICE_INVALID_IF(n <= 0, "Requires num > 0: ", n);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, {n}));
  T* to = out->data<T>();
  to[0] = start;
  if (n == 1) return absl::OkStatus();
  const T step = (stop - start) / static_cast<T>(n - 1);
  for (int64_t i = 1; i + 1 < n; ++i) to[i] = start + step * static_cast<T>(i);
  to[n - 1] = stop;
  return absl::OkStatus();
}

// Sets to[o, indices[o, i], i] to `on`. `to` has shape [outer, depth, inner], `indices` [outer,
// inner].
template <typename T, typename Index>
void SetHot(KernelContext& c, const Index* indices, const T& on, T* to, int64_t outer,
            int64_t depth, int64_t inner) {
  c.ParallelFor(outer, 2.0 * static_cast<double>(inner), [=, &on](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        const int64_t at = static_cast<int64_t>(indices[o * inner + i]);
        if (at >= 0 && at < depth) to[(o * depth + at) * inner + i] = on;
      }
    }
  });
}

absl::Status OneHot(KernelContext& c, Attr<int64_t, "axis"> axis_attr) {
  const Tensor& indices = c.input(0);
  SLUICE_INVALID_IF(axis_attr < -1 || axis_attr > indices.rank(),
                    "Expected axis to be -1 or between [0, ", indices.rank() + 1,
                    ").  But received: ", axis_attr.value);
  const char* const names[] = {"depth", "on_value", "off_value"};
  for (int i = 1; i < 4; ++i) {
    SLUICE_INVALID_IF(!c.input(i).shape().IsScalar(), names[i - 1],
                      " must be a scalar, but got: ", c.input(i).shape().ToString());
  }
  const int64_t depth = IntAt(c.input(1), 0);
  SLUICE_INVALID_IF(depth < 0, "depth must be non-negative, got: ", depth);
  const int axis = axis_attr < 0 ? indices.rank() : static_cast<int>(axis_attr);
  absl::InlinedVector<int64_t, 8> dims(indices.shape().dims().begin(),
                                       indices.shape().dims().end());
  dims.insert(dims.begin() + axis, depth);
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(dims));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  if (shape.num_elements() == 0) return absl::OkStatus();
  FillElements(c, out->dtype(), c.input(3).raw(), out->raw(), shape.num_elements());
  int64_t inner = 1;
  for (int d = axis; d < indices.rank(); ++d) inner *= indices.dim(d);
  WithElement(out->dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    WithIndices(indices, [&](const auto* p) {
      SetHot(c, p, *static_cast<const T*>(c.input(2).raw()), static_cast<T*>(out->raw()),
             indices.num_elements() / inner, depth, inner);
    });
  });
  return absl::OkStatus();
}

constexpr TypeSet kObjects = {DT_STRING, DT_RESOURCE, DT_VARIANT};
KERNEL(Fill, FunctionKernel<Fill>,
       {"T", kPlain | QuantizedTypes() | kObjects | TypeSet{DT_INT4, DT_UINT4}});
KERNEL(Empty, FunctionKernel<Empty>, {"dtype", kPlain | TypeSet{DT_STRING}});
KERNEL(ZerosLike, FunctionKernel<ZerosLike>, {"T", kPlain | TypeSet{DT_STRING}});
KERNEL(OnesLike, FunctionKernel<OnesLike>, {"T", kPlain});
KERNEL(OneHot, FunctionKernel<OneHot>, {"T", kPlain | kObjects});
FUNCTION_KERNELS(Range, "Tidx", Range, RangeList);
using LinSpaceList = TypeList<float, double>;
FUNCTION_KERNELS(LinSpace, "T", LinSpace, LinSpaceList);

}  // namespace
}  // namespace sluice
