#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/dataflow/fifo_queue.h"
#include "ops/state/named_resource.h"

namespace sluice {
namespace {

absl::Status SetGlobalStep(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto queue, LookupNamed<QueueResource>(c, 0));
  auto* const fifo = dynamic_cast<FifoQueue*>(queue.get());
  if (fifo == nullptr) {
    return InvalidArgument(c.node().Describe(), ": expected a queue that is first in, first out, ",
                           "got a ", queue->options().kind);
  }
  const Tensor& step = c.input(1);
  if (!step.shape().IsScalar()) {
    return InvalidArgument(c.node().Describe(), ": expected new_global_step to be a scalar, ",
                           "got shape ", step.shape().ToString());
  }
  fifo->SetGlobalStep(step.scalar<int64_t>());
  return absl::OkStatus();
}

using SetGlobalStepKernel = FunctionKernel<&SetGlobalStep, false>;

KERNEL(QueueSetGlobalStep, SetGlobalStepKernel);

}  // namespace
}  // namespace sluice
