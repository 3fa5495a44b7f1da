#include "executor/kernel/context.h"
#include "graph/ir/graph.h"

namespace sluice {
namespace {

absl::Status Identity(KernelContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) c.set_output(i, c.input(i));
  return absl::OkStatus();
}

absl::Status GuaranteeConst(KernelContext& c) {
  SLUICE_INVALID_IF(c.input(0).dtype() == DT_RESOURCE,
                    "Input tensor cannot be a resource variable handle.");
  return Identity(c);
}

absl::Status RefIdentity(KernelContext& c) {
  c.output_value(0) = c.input_value(0);
  return absl::OkStatus();
}

absl::Status DeepCopy(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(Tensor copy, c.input(0).Clone(*c.step().allocator));
  c.set_output(0, std::move(copy));
  return absl::OkStatus();
}

absl::Status EnsureShape(KernelContext& c, const Attr<PartialShape, "shape">& shape) {
  if (!shape.value.IsCompatibleWith(c.input(0).shape())) {
    const Output& source = c.node().input(0);
    return InvalidArgument("Shape of tensor ", source ? source.node->name() : c.name(), " ",
                           c.input(0).shape().ToString(), " is not compatible with expected shape ",
                           shape.value.ToString(), ".");
  }
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}
KERNEL(Identity, CheapFunctionKernel<Identity>);
KERNEL(IdentityN, CheapFunctionKernel<Identity>);
KERNEL(StopGradient, CheapFunctionKernel<Identity>);
KERNEL(PreventGradient, CheapFunctionKernel<Identity>);
KERNEL(GuaranteeConst, CheapFunctionKernel<GuaranteeConst>);
KERNEL(DebugGradientIdentity, CheapFunctionKernel<Identity>);
KERNEL(DebugGradientRefIdentity, CheapFunctionKernel<RefIdentity>);
KERNEL(RefIdentity, CheapFunctionKernel<RefIdentity>);
KERNEL(DeepCopy, FunctionKernel<DeepCopy>);
KERNEL(Snapshot, FunctionKernel<DeepCopy>, {"T", NumberTypes() | TypeSet{DT_BOOL}});
KERNEL(EnsureShape, CheapFunctionKernel<EnsureShape>);

}  // namespace
}  // namespace sluice
