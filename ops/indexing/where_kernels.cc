#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/loops/elements.h"

namespace sluice {
namespace {

// Types with two zeros, whose bits differ.
using FloatAndComplexList = JoinTypes<FloatList, ComplexList>::type;

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
  SLUICE_INVALID_IF(rank == 0, "WhereOp : Unhandled input dimensions: 0");
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += IsSet(x[i]) ? 1 : 0;
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, {count, rank}));
  int64_t* to = out->data<int64_t>();
  if (rank == 1) {
    // Without branches, which processors would mispredict for random masks.
    int64_t found = 0;
    for (int64_t i = 0; found < count; ++i) {
      to[found] = i;
      found += IsSet(x[i]) ? 1 : 0;
    }
    return absl::OkStatus();
  }
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
  absl::Status status;
  WithTypeOrBits(c.input(0).dtype(), FloatAndComplexList(), [&]<typename T>(ElementTag<T>) {
    status = WhereSet(c, static_cast<const T*>(c.input(0).raw()));
  });
  return status;
}
KERNEL(Where, FunctionKernel<Where>, {"T", RealTypes() | ComplexTypes() | TypeSet{DT_BOOL}});

}  // namespace
}  // namespace sluice
