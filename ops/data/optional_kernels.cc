// Kernels of optionals.
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/data/dataset_kernel.h"
#include "ops/data/optional.h"

namespace sluice {
namespace {

absl::StatusOr<const OptionalVariant*> OptionalIn(const KernelContext& c) {
  const Tensor& input = c.input(0);
  SLUICE_INVALID_IF(input.rank() != 0, "Input to ", c.node().op(),
                    " must be a scalar tensor containing an OptionalVariant object.");
  const auto* optional =
      input.IsInitialized() ? input.scalar<Variant>().get<OptionalVariant>() : nullptr;
  if (optional != nullptr) return optional;
  return InvalidArgument("Input to ", c.node().op(), " must be an OptionalVariant object.");
}

absl::Status OptionalNone(KernelContext& c) {
  c.set_output(0, OptionalTensor(std::nullopt));
  return absl::OkStatus();
}

absl::Status OptionalFromValue(KernelContext& c) {
  c.set_output(0, OptionalTensor(InputsFrom(c, 0)));
  return absl::OkStatus();
}

absl::Status OptionalHasValue(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const OptionalVariant* optional, OptionalIn(c));
  c.set_output(0, Tensor::Scalar(optional->value.has_value()));
  return absl::OkStatus();
}

absl::Status CheckComponent(const Tensor& component, int i, DataType type,
                            const PartialShape& shape) {
  SLUICE_INVALID_IF(component.dtype() != type,
                    "The given optional does not match the expected type for component ", i,
                    ". Expected: ", DataTypeName(type),
                    ". Actual: ", DataTypeName(component.dtype()), ".");
  SLUICE_INVALID_IF(!shape.IsCompatibleWith(component.shape()),
                    "The given optional does not match the expected shape for component ", i,
                    ". Expected: ", shape.ToString(), ". Actual: ", component.shape().ToString(),
                    ".");
  return absl::OkStatus();
}

absl::Status OptionalGetValue(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const OptionalVariant* optional, OptionalIn(c));
  SLUICE_INVALID_IF(!optional->value.has_value(), "The given optional does not have a value.");
  const Tensors& components = *optional->value;
  SLUICE_INVALID_IF(static_cast<int>(components.size()) != c.num_outputs(),
                    "The given optional has ", components.size(), " components, expected ",
                    c.num_outputs());
  const auto shapes = c.node().AttrOr<std::vector<PartialShape>>("output_shapes", {});
  for (int i = 0; i < c.num_outputs(); ++i) {
    const auto k = static_cast<size_t>(i);
    const PartialShape shape = k < shapes.size() ? shapes[k] : PartialShape::UnknownRank();
    SLUICE_RETURN_IF_ERROR(CheckComponent(components[k], i, c.output_dtype(i), shape));
    c.set_output(i, components[k]);
  }
  return absl::OkStatus();
}

KERNEL(OptionalFromValue, FunctionKernel<OptionalFromValue>);
KERNEL(OptionalGetValue, FunctionKernel<OptionalGetValue>);
KERNEL(OptionalHasValue, FunctionKernel<OptionalHasValue>);
KERNEL(OptionalNone, FunctionKernel<OptionalNone>);

}  // namespace
}  // namespace sluice
