// The kernel of ops that call functions, which graph/function replaces before a graph runs.
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"

namespace sluice {
namespace {

class CallKernel : public Kernel {
 public:
  absl::Status Compute(KernelContext& c) override {
    return absl::InternalError(
        StrCat(c.node().Describe(), ": expected to be lowered (graph/function) before it runs"));
  }
};

KERNEL(Case, CallKernel);
KERNEL(For, CallKernel);
KERNEL(If, CallKernel);
KERNEL(MapDefun, CallKernel);
KERNEL(PartitionedCall, CallKernel);
KERNEL(RemoteCall, CallKernel);
KERNEL(StatefulPartitionedCall, CallKernel);
KERNEL(StatelessCase, CallKernel);
KERNEL(StatelessIf, CallKernel);
KERNEL(StatelessWhile, CallKernel);
KERNEL(SymbolicGradient, CallKernel);
KERNEL(While, CallKernel);
KERNEL(_If, CallKernel);
KERNEL(_While, CallKernel);

}  // namespace
}  // namespace sluice
