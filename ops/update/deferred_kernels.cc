// Kernels of Adam's sparse steps with deferred rows, and of gathers that catch up the rows which
// they read.
#include <memory>
#include <mutex>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/loops/copy_rows.h"
#include "ops/loops/row_index.h"
#include "ops/loops/scatter_rows.h"
#include "ops/state/variable_resource.h"
#include "ops/update/deferred_adam.h"
#include "ops/update/targets.h"

namespace sluice {
namespace {

// The inputs of _DeferredAdam and _DeferredAdamOfHandles.
enum Inputs { kVar, kM, kV, kIndices, kToM, kToV, kRate, kBeta1, kBeta2, kEpsilon };

absl::Status CheckInputs(KernelContext& c, const AdamHomes& homes, DataType dtype) {
  const TensorShape& shape = homes[0]->shape();
  for (const Tensor* home : homes) {
    if (home->dtype() == dtype && home->shape() == shape && shape.rank() >= 1) continue;
    return InvalidArgument("expected var, m and v of one shape and type ", DataTypeName(dtype),
                           ", got ", DataTypeName(home->dtype()), home->shape().ToString(), " and ",
                           shape.ToString());
  }
  for (int i : {kRate, kBeta1, kBeta2, kEpsilon}) {
    if (c.input(i).shape().IsScalar()) continue;
    return InvalidArgument("expected a scalar as input ", i, ", got shape ",
                           c.input(i).shape().ToString());
  }
  for (int i : {kToM, kToV}) {
    SLUICE_INVALID_IF(c.input(i).rank() < 1, "expected rows as input ", i);
    SLUICE_RETURN_IF_ERROR(CheckScatter(shape, c.input(kIndices), c.input(i)));
  }
  return CheckRowsInside(c.input(kIndices), shape.dim(0));
}

template <typename T>
absl::Status StepDeferredAdam(KernelContext& c) {
  UpdateTargets targets;
  SLUICE_RETURN_IF_ERROR(targets.Claim(c, kIndices, UpdateTargets::Deferred::kKeep));
  SLUICE_INVALID_IF(!targets.are_distinct(), "var, m and v must be three variables");
  const AdamHomes homes = {targets.tensor(kVar), targets.tensor(kM), targets.tensor(kV)};
  SLUICE_RETURN_IF_ERROR(CheckInputs(c, homes, kDataTypeOf<T>));
  if (homes[0]->num_elements() > 0) {
    SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<DeferredAdam<T>> adam,
                            DeferredAdam<T>::Find(homes, c.step()));
    const auto number = [&](int i) { return c.input(i).template scalar<T>(); };
    adam->Step({number(kRate), number(kBeta1), number(kBeta2), number(kEpsilon)},
               RowIndex(c.input(kIndices)), c.input(kToM).template data<T>(),
               c.input(kToV).template data<T>(), c);
  }
  for (const std::shared_ptr<Var>& variable : targets.variables()) {
    variable->claim.SetMayBeDeferred(true);
  }
  return absl::OkStatus();
}
using Types = TypeList<float, double>;
FUNCTION_KERNELS(_DeferredAdam, "T", StepDeferredAdam, Types);
FUNCTION_KERNELS(_DeferredAdamOfHandles, "T", StepDeferredAdam, Types);

absl::Status Gather(KernelContext& c, const Tensor& params) {
  const Tensor& indices = c.input(1);
  std::vector<int64_t> dims(indices.shape().dims().begin(), indices.shape().dims().end());
  for (int d = 1; d < params.rank(); ++d) dims.push_back(params.dim(d));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(dims));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  if (shape.num_elements() == 0) return absl::OkStatus();
  const RowIndex rows(indices);
  CopyRows(
      c, params, params.num_elements() / params.dim(0), [&](int64_t i) { return rows[i]; },
      rows.size(), out);
  return absl::OkStatus();
}

absl::Status GatherOfDeferred(KernelContext& c) {
  const RefInput ref = c.ref_input(0);
  std::unique_lock lock(*ref.claim, std::try_to_lock);
  if (!lock) return c.RunAgainAfter(ref.claim);
  if (std::shared_ptr<DeferredUpdates> holder = WhoHas(ref.tensor); holder != nullptr) {
    SLUICE_RETURN_IF_ERROR(CheckRowsInside(c.input(1), ref.tensor->dim(0)));
    return Gather(c, holder->Rows(ref.tensor, c.input(1), c.step()));
  }
  if (!ref.tensor->IsInitialized()) {
    return absl::FailedPreconditionError(
        StrCat("Attempting to use uninitialized value ", c.node().input(0).node->name()));
  }
  const Tensor params = *ref.tensor;
  lock.unlock();
  SLUICE_INVALID_IF(params.rank() < 1, "params must be at least 1 dimensional");
  SLUICE_RETURN_IF_ERROR(CheckRowsInside(c.input(1), params.dim(0)));
  return Gather(c, params);
}
KERNEL(_GatherOfDeferred, FunctionKernel<GatherOfDeferred>);

}  // namespace
}  // namespace sluice
