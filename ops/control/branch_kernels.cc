// Kernels of Switch and Merge.
#include "executor/kernel/context.h"

namespace sluice {
namespace {

absl::Status Switch(KernelContext& c) {
  const Tensor& pred = c.input(1);
  SLUICE_RETURN_IF_ERROR(
      ExpectRank(pred, 0, "The second input must be a scalar, but it has shape "));
  const int taken = pred.scalar<bool>() ? 1 : 0;
  c.output_value(taken) = std::move(c.input_value(0));
  c.set_output_dead(1 - taken);
  return absl::OkStatus();
}

absl::Status Merge(KernelContext& c) {
  // Outputs the input that the executor has not marked as dead.
  int taken = -1;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (!c.has_input(i)) continue;
    if (taken >= 0) {
      return absl::InternalError(
          StrCat("Merge node '", c.name(), "' has more than one live input"));
    }
    taken = i;
  }
  if (taken < 0) {
    c.set_output_dead(0);
    c.set_output_dead(1);
    return absl::OkStatus();
  }
  c.output_value(0) = std::move(c.input_value(taken));
  SLUICE_ASSIGN_OR_RETURN(Tensor * index, c.AllocateOutput(1, TensorShape()));
  index->scalar<int32_t>() = taken;
  return absl::OkStatus();
}

KERNEL(Switch, CheapFunctionKernel<Switch>);
KERNEL(RefSwitch, CheapFunctionKernel<Switch>);
KERNEL(Merge, CheapFunctionKernel<Merge>);
KERNEL(RefMerge, CheapFunctionKernel<Merge>);

}  // namespace
}  // namespace sluice
