#include "ops/math/reduce.h"

namespace sluice {

absl::StatusOr<ReductionPlan> PlanReduction(const TensorShape& input, const Tensor& axes,
                                            bool keep_dims) {
  if (axes.rank() > 1) {
    return InvalidArgument("reduction_indices must be a scalar or a vector, got shape ",
                           axes.shape().ToString());
  }
  const int rank = input.rank();
  absl::InlinedVector<bool, 8> reduced(rank, false);
  for (int64_t i = 0; i < axes.num_elements(); ++i) {
    const int64_t axis = axes.dtype() == DT_INT32 ? axes.data<int32_t>()[i] : axes.data<int64_t>()[i];
    if (axis < -rank || axis >= rank) {
      return InvalidArgument("Invalid reduction dimension (", axis, " for input with ", rank,
                             " dimension(s)");
    }
    const int64_t dim = axis < 0 ? axis + rank : axis;
    if (reduced[dim]) {
      return InvalidArgument("Invalid reduction arguments: Axes contains duplicate dimension: ",
                             dim);
    }
    reduced[dim] = true;
  }
  ReductionPlan plan;
  for (int i = 0; i < rank; ++i) {
    const int64_t size = input.dim(i);
    if (reduced[i]) {
      plan.count *= size;
      if (keep_dims) plan.output.AddDim(1);
    } else {
      plan.output.AddDim(size);
    }
    if (size == 1) continue;
    if (!plan.dims.empty() && plan.dims.back().reduced == reduced[i]) {
      plan.dims.back().size *= size;
    } else {
      plan.dims.push_back({size, reduced[i]});
    }
  }
  return plan;
}

}  // namespace sluice
