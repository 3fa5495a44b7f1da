// Replaces the nodes of sparse Adam by one node that updates at once only the rows with a gradient.
// The other rows are updated when they are next read.
#ifndef SLUICE_EXECUTOR_PASSES_DEFER_ADAM_H_
#define SLUICE_EXECUTOR_PASSES_DEFER_ADAM_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"
#include "graph/ir/graph.h"

namespace sluice {

// For a sparse gradient, TensorFlow's Adam computes
//
//   m = Assign(m, m * beta1), then m = ScatterAdd(m, indices, to_m); the same for v;
//   AssignSub(var, (rate * m) / (Sqrt(v) + epsilon))
//
// for all rows of the variables var, m and v. `indices` are the rows with a gradient, and `to_m`
// are the terms that the gradient adds to these rows of m. `rate` is the learning rate. If no other
// node uses the intermediate results, these nodes become one _DeferredAdam, which updates the rows
// of `indices`, and defers the updates of the other rows until these are read. Each row goes
// through the same operations in the same order, so its bits are the same. Gathers of such
// reference variables, and of those that the graph does not update, become _GatherOfDeferred, which
// updates only the rows that it returns. Before any other node reads or writes the variables, all
// their rows are updated (executor/kernel/deferred_updates.h).
//
// Left alone: nodes in PassOptions::keep, nodes of branches and loops, types other than float and
//   double, and variables that the same graph reads whole.
// Order: after placement and ReadVariablesLate, whose edges decide which reads see an update.
// Cost: linear in the graph.
// Returns the number of Adams that were replaced.
absl::StatusOr<int> DeferAdam(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_DEFER_ADAM_H_
