// The kernel of ops that call functions, which graph/function replaces before a graph runs.
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"

namespace sluice {
namespace {

absl::Status Call(KernelContext& c) {
  return absl::InternalError(
      StrCat(c.node().Describe(), ": expected to be lowered (graph/function) before it runs"));
}

KERNEL(Case, FunctionKernel<Call>);
KERNEL(For, FunctionKernel<Call>);
KERNEL(If, FunctionKernel<Call>);
KERNEL(MapDefun, FunctionKernel<Call>);
KERNEL(PartitionedCall, FunctionKernel<Call>);
KERNEL(RemoteCall, FunctionKernel<Call>);
KERNEL(StatefulPartitionedCall, FunctionKernel<Call>);
KERNEL(StatelessCase, FunctionKernel<Call>);
KERNEL(StatelessIf, FunctionKernel<Call>);
KERNEL(StatelessWhile, FunctionKernel<Call>);
KERNEL(SymbolicGradient, FunctionKernel<Call>);
KERNEL(While, FunctionKernel<Call>);
KERNEL(_If, FunctionKernel<Call>);
KERNEL(_While, FunctionKernel<Call>);

}  // namespace
}  // namespace sluice
