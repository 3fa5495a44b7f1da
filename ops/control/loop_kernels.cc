// The kernel of ops of loops. The executor handles frames and iterations.
#include "executor/kernel/context.h"

namespace sluice {
namespace {

absl::Status Pass(KernelContext& c) {
  c.output_value(0) = std::move(c.input_value(0));
  return absl::OkStatus();
}

KERNEL(Enter, CheapFunctionKernel<Pass>);
KERNEL(Exit, CheapFunctionKernel<Pass>);
KERNEL(LoopCond, CheapFunctionKernel<Pass>);
KERNEL(NextIteration, CheapFunctionKernel<Pass>);
KERNEL(RefEnter, CheapFunctionKernel<Pass>);
KERNEL(RefExit, CheapFunctionKernel<Pass>);
KERNEL(RefNextIteration, CheapFunctionKernel<Pass>);

}  // namespace
}  // namespace sluice
