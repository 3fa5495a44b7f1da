// Defers the updates of rows without a gradient in sparse Adam.
#ifndef SLUICE_EXECUTOR_PASSES_DEFER_ADAM_H_
#define SLUICE_EXECUTOR_PASSES_DEFER_ADAM_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"
#include "graph/ir/graph.h"

namespace sluice {

// For a sparse gradient, TensorFlow's Adam builds
//
//   m = Assign(m, m * beta1), then m = ScatterAdd(m, indices, to_m); the same for v;
//   AssignSub(var, (rate * m) / (Sqrt(v) + epsilon))
//
// which visits all rows of three tables. If no other node reads or writes in between, the pass
// replaces these nodes by one _DeferredAdam. It updates the rows of `indices` and defers the
// updates of the other rows until they are read. The operations and their order are the same, so
// the bits are too. Gathers of such variables, and of variables that the graph does not update,
// become _GatherOfDeferred, which needs only its own rows. All other readers and writers of the
// variables first bring all rows up to date (executor/kernel/deferred_updates.h).
//
// Runs after placement and after ReadVariablesLate, whose edges order reads and updates. It leaves
// alone nodes in `keep`, branches and loops, types other than float and double, and variables that
// the same graph reads as a whole. Linear in the graph. Returns the number of replaced Adams.
absl::StatusOr<int> DeferAdam(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_DEFER_ADAM_H_
