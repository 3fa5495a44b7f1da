#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/loops/constant_element.h"
#include "ops/loops/int_tensor.h"
#include "ops/loops/scatter_rows.h"
#include "ops/loops/strided_copy.h"

namespace sluice {
namespace {

absl::StatusOr<BadIndices> ReadPolicy(KernelInit& init) {
  const std::string policy = init.AttrOr<std::string>("bad_indices_policy", "");
  if (policy.empty() || policy == "DEFAULT" || policy == "ERROR") return BadIndices::kError;
  if (policy == "IGNORE") return BadIndices::kIgnore;
  return InvalidArgument("Unknown bad indices handling attribute: ", policy);
}

// Appends strings, which is how ScatterNd adds them.
absl::Status AppendStrings(Tensor* out, const Tensor& indices, const Tensor& updates,
                           BadIndices bad) {
  const int64_t depth = indices.dim(indices.rank() - 1);
  const int64_t count = depth == 0 ? 0 : indices.num_elements() / depth;
  int64_t row = 1;
  for (int d = static_cast<int>(depth); d < out->rank(); ++d) row *= out->dim(d);
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0;
    bool inside = true;
    for (int d = 0; d < depth; ++d) {
      const int64_t x = IntAt(indices, i * depth + d);
      inside = inside && x >= 0 && x < out->dim(d);
      if (inside) at = at * out->dim(d) + x;
    }
    if (!inside && bad == BadIndices::kIgnore) continue;
    SLUICE_INVALID_IF(!inside, "indices[", i, "] does not index into shape ",
                      out->shape().ToString());
    for (int64_t k = 0; k < row; ++k) {
      out->data<std::string>()[at * row + k] += updates.data<std::string>()[i * row + k];
    }
  }
  return absl::OkStatus();
}

absl::Status ScatterNd(KernelContext& c, const Prepared<ReadPolicy>& bad) {
  const Tensor& indices = c.input(0);
  const Tensor& updates = c.input(1);
  SLUICE_RETURN_IF_ERROR(ExpectRank(c.input(2), 1, "Shape must be a vector, got shape "));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(IntsOf(c.input(2))));
  SLUICE_RETURN_IF_ERROR(CheckScatterNd(shape, indices, updates));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  const Tensor zero = ZeroElement(out->dtype(), *c.step().allocator);
  FillElements(c, out->dtype(), zero.raw(), out->raw(), shape.num_elements());
  if (indices.num_elements() == 0 && indices.dim(indices.rank() - 1) != 0) {
    return absl::OkStatus();
  }
  if (out->dtype() == DT_STRING) return AppendStrings(out, indices, updates, *bad);
  return ScatterSlices(c, ArithmeticOp::kAdd, *bad, out, indices, updates);
}

template <ArithmeticOp kOp>
absl::Status TensorScatter(KernelContext& c, const Prepared<ReadPolicy>& bad) {
  const Tensor& indices = c.input(1);
  const Tensor& updates = c.input(2);
  const TensorShape shape = c.input(0).shape();
  SLUICE_RETURN_IF_ERROR(CheckScatterNd(shape, indices, updates));
  const void* from = c.input(0).raw();
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.ForwardOrAllocate({0}, 0, shape));
  if (out->raw() != from) {
    CopyElements(c, out->dtype(), from, out->raw(), shape.num_elements());
  }
  if (updates.num_elements() == 0) return absl::OkStatus();
  return ScatterSlices(c, kOp, *bad, out, indices, updates);
}

constexpr TypeSet kNumbers = RealTypes() | ComplexTypes();
KERNEL(ScatterNd, FunctionKernel<ScatterNd>, {"T", kNumbers | TypeSet{DT_BOOL, DT_STRING}},
       {"Tindices", IndexTypes()});
KERNEL(ScatterNdNonAliasingAdd, FunctionKernel<TensorScatter<ArithmeticOp::kAdd>>,
       {"T", kNumbers | TypeSet{DT_BOOL}});
KERNEL(TensorScatterAdd, FunctionKernel<TensorScatter<ArithmeticOp::kAdd>>, {"T", kNumbers});
KERNEL(TensorScatterSub, FunctionKernel<TensorScatter<ArithmeticOp::kSub>>, {"T", kNumbers});
KERNEL(TensorScatterMax, FunctionKernel<TensorScatter<ArithmeticOp::kMax>>, {"T", RealTypes()});
KERNEL(TensorScatterMin, FunctionKernel<TensorScatter<ArithmeticOp::kMin>>, {"T", RealTypes()});
KERNEL(TensorScatterUpdate, FunctionKernel<TensorScatter<ArithmeticOp::kAssign>>,
       {"T", kNumbers | TypeSet{DT_BOOL, DT_STRING}}, {"Tindices", IndexTypes()});

}  // namespace
}  // namespace sluice
