// Kernels that compute nothing, and the kernel of Abort.
#include "executor/kernel/context.h"

namespace sluice {
namespace {

absl::Status NoOp(KernelContext&) { return absl::OkStatus(); }

class AbortKernel : public Kernel {
 public:
  explicit AbortKernel(KernelInit& init)
      : message_(init.AttrOr<std::string>("error_msg", "")),
        quiet_(init.AttrOr<bool>("exit_without_error", false)) {}

  absl::Status Compute(KernelContext& c) override {
    if (quiet_) return absl::OkStatus();
    return absl::AbortedError(StrCat("Abort node '", c.name(),
                                     "': ", message_.empty() ? "the step was aborted" : message_));
  }
  bool IsExpensive() const override { return false; }

 private:
  const std::string message_;
  const bool quiet_;
};

KERNEL(Abort, AbortKernel);
KERNEL(ControlTrigger, CheapFunctionKernel<NoOp>);
KERNEL(NoOp, CheapFunctionKernel<NoOp>);

}  // namespace
}  // namespace sluice
