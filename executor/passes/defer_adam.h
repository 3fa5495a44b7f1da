// Sparse Adam, with the rows that have no gradient left for later.
#ifndef SLUICE_EXECUTOR_PASSES_DEFER_ADAM_H_
#define SLUICE_EXECUTOR_PASSES_DEFER_ADAM_H_

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "graph/ir/graph.h"

namespace sluice {

// TensorFlow's Adam makes of a sparse gradient
//
//   m = Assign(m, m * beta1), then m = ScatterAdd(m, indices, to_m); v likewise;
//   AssignSub(var, (rate * m) / (Sqrt(v) + epsilon))
//
// which goes over all rows of three tables. Where nobody else takes part in it, these nodes become
// one _DeferredAdam, which does the rows of `indices` and leaves the others until they are read:
// the same operations in the same order, so the same bits. Gathers of such variables, and of those
// that the graph does not update, become _GatherOfDeferred, which wants its own rows only; whatever
// else reads or writes the variables waits for all rows (executor/kernel/deferred_updates.h).
//
// After placement and ReadVariablesLate, whose edges say what sees what. Left alone: nodes in
// `keep`, parts of branches and loops, types other than float and double, variables that the same
// graph reads whole. Linear in the graph. Returns how many Adams were found.
absl::StatusOr<int> DeferAdam(Graph& graph, const std::set<std::string>& keep);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_DEFER_ADAM_H_
