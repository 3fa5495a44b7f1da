#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/loops/arithmetic.h"
#include "ops/loops/elements.h"
#include "ops/loops/strided_copy.h"

namespace sluice {
namespace {

absl::Status CheckRows(const Tensor& x, const Tensor& i, const Tensor& v) {
  SLUICE_INVALID_IF(i.rank() != 1, "i must be a vector. ", i.shape().ToString());
  SLUICE_INVALID_IF(x.rank() != v.rank() || x.rank() == 0,
                    "x and v shape doesn't match (ranks differ): ", x.shape().ToString(), " vs. ",
                    v.shape().ToString());
  for (int d = 1; d < x.rank(); ++d) {
    if (x.dim(d) == v.dim(d)) continue;
    return InvalidArgument("x and v shape doesn't match at index ", d, " : ", x.shape().ToString(),
                           " vs. ", v.shape().ToString());
  }
  SLUICE_INVALID_IF(i.dim(0) != v.dim(0),
                    "i and x shape doesn't match at index 0: ", i.shape().ToString(), " vs. ",
                    v.shape().ToString());
  return absl::OkStatus();
}

// Outputs the input's memory, even if other nodes use it too. Programs rely on this, and use
// DeepCopy if the input must not change. But constants are copied, because other steps use them
// too.
template <ArithmeticOp kOp>
absl::Status Inplace(KernelContext& c) {
  const TensorShape shape = c.input(0).shape();
  const Tensor& rows = c.input(1);
  const Tensor& v = c.input(2);
  SLUICE_RETURN_IF_ERROR(CheckRows(c.input(0), rows, v));
  Tensor out = c.input(0);
  if (c.node().input(0) && c.node().input(0).node->op() == "Const") {
    SLUICE_ASSIGN_OR_RETURN(out, out.Clone(*c.step().allocator));
  }
  c.set_output(0, out);
  if (shape.num_elements() == 0) return absl::OkStatus();
  const ArithmeticRow update = FindArithmetic(kOp, out.dtype());
  if (update == nullptr) {
    return absl::UnimplementedError(StrCat("Unsupported dtype: ", DataTypeName(out.dtype())));
  }
  const int64_t row = shape.num_elements() / shape.dim(0);
  const size_t stride = ElementStride(out.dtype());
  for (int64_t k = 0; k < rows.dim(0); ++k) {
    // As in TensorFlow, row numbers wrap around.
    const int64_t n = shape.dim(0);
    const int64_t at = (rows.data<int32_t>()[k] % n + n) % n;
    update(ElementAt(out.raw(), at * row, stride), ElementAt(v.raw(), k * row, stride), row);
  }
  return absl::OkStatus();
}
KERNEL(InplaceUpdate, FunctionKernel<Inplace<ArithmeticOp::kAssign>>);
KERNEL(InplaceAdd, FunctionKernel<Inplace<ArithmeticOp::kAdd>>);
KERNEL(InplaceSub, FunctionKernel<Inplace<ArithmeticOp::kSub>>);

}  // namespace
}  // namespace sluice
