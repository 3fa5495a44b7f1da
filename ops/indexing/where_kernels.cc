#include <complex>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/loops/elements.h"

namespace sluice {
namespace {

// What elements are compared with zero as.
template <typename F>
decltype(auto) WithNumber(DataType dtype, F&& f) {
  switch (dtype) {
    case DT_FLOAT:
      return f(ElementTag<float>());
    case DT_DOUBLE:
      return f(ElementTag<double>());
    case DT_HALF:
      return f(ElementTag<half>());
    case DT_BFLOAT16:
      return f(ElementTag<bfloat16>());
    case DT_COMPLEX64:
      return f(ElementTag<complex64>());
    case DT_COMPLEX128:
      return f(ElementTag<complex128>());
    default:
      break;
  }
  switch (DataTypeSize(dtype)) {
    case 2:
      return f(ElementTag<uint16_t>());
    case 4:
      return f(ElementTag<uint32_t>());
    case 8:
      return f(ElementTag<uint64_t>());
    default:
      return f(ElementTag<uint8_t>());
  }
}

template <typename T>
bool IsSet(const T& v) {
  if constexpr (kIsFloat16<T>) {
    return static_cast<float>(v) != 0;
  } else {
    return v != T(0);
  }
}

template <typename T>
absl::Status WhereSet(KernelContext& c, const T* x) {
  const TensorShape& shape = c.input(0).shape();
  const int64_t n = shape.num_elements();
  const int rank = shape.rank();
  if (rank == 0) return InvalidArgument("WhereOp : Unhandled input dimensions: 0");
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += IsSet(x[i]) ? 1 : 0;
  Tensor* out;
  SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, {count, rank}, &out));
  int64_t* to = out->data<int64_t>();
  for (int64_t i = 0; i < n; ++i) {
    if (!IsSet(x[i])) continue;
    int64_t at = i;
    for (int d = rank - 1; d >= 0; --d) {
      to[d] = at % shape.dim(d);
      at /= shape.dim(d);
    }
    to += rank;
  }
  return absl::OkStatus();
}

absl::Status Where(KernelContext& c) {
  return WithNumber(c.input(0).dtype(), [&c](auto tag) {
    return WhereSet(c, static_cast<const typename decltype(tag)::type*>(c.input(0).raw()));
  });
}
KERNEL(Where, FunctionKernel<Where>, {"T", RealTypes() | ComplexTypes() | TypeSet{DT_BOOL}});

}  // namespace
}  // namespace sluice
