// The kernel of ops of loops. The executor handles frames and iterations.
#include "executor/kernel/context.h"

namespace sluice {
namespace {

class PassKernel : public Kernel {
 public:
  absl::Status Compute(KernelContext& c) override {
    c.output_value(0) = std::move(c.input_value(0));
    return absl::OkStatus();
  }
  bool IsExpensive() const override { return false; }
};

KERNEL(Enter, PassKernel);
KERNEL(Exit, PassKernel);
KERNEL(LoopCond, PassKernel);
KERNEL(NextIteration, PassKernel);
KERNEL(RefEnter, PassKernel);
KERNEL(RefExit, PassKernel);
KERNEL(RefNextIteration, PassKernel);

}  // namespace
}  // namespace sluice
