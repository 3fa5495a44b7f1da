#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/dataflow/conditional_accumulator.h"
#include "ops/state/named_resource.h"

namespace sluice {
namespace {

absl::Status SetUpdateSize(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto accumulator, LookupNamed<ConditionalAccumulator>(c, 0));
  const Tensor& gradients = c.input(1);
  if (!gradients.shape().IsScalar() || gradients.scalar<int32_t>() < 1) {
    return InvalidArgument(c.node().Describe(), ": expected a positive number of gradients, got ",
                           gradients.ToString());
  }
  accumulator->SetUpdateSize(gradients.scalar<int32_t>());
  return absl::OkStatus();
}

using SetUpdateSizeKernel = FunctionKernel<&SetUpdateSize, false>;

KERNEL(AccumulatorSetUpdateSize, SetUpdateSizeKernel);
KERNEL(ResourceAccumulatorSetUpdateSize, SetUpdateSizeKernel);

}  // namespace
}  // namespace sluice
