// Lets fetches of variables see the updates of their step.
#ifndef SLUICE_EXECUTOR_PASSES_LATE_FETCHES_H_
#define SLUICE_EXECUTOR_PASSES_LATE_FETCHES_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"
#include "graph/ir/graph.h"

namespace sluice {

// Delays each fetch of a variable until the step's updates of the variable have run, except for
// updates that the graph orders after the fetch. A fetch of a variable is a fetch of its reference,
// of a read of the resource, or of an Identity of either. TensorFlow's training loops rely on this
// order: `while step < n: _, step = run([train, step])`. In TensorFlow a fetched reference shares
// the variable's memory, and so shows all updates. A fetch of a resource variable is a race in
// TensorFlow.
//
//   1. If other nodes use the value of a fetched read, they keep this value, and the fetch gets a
//      second read.
//   2. If an update waits for the fetched read, the fetch keeps the value that was read. For a
//      reference, only control dependencies count as waiting: an update by a gradient always
//      depends on the value through data, and TensorFlow's fetched reference shows this update.
//   3. An update in a loop counts when the loop ends. An update on a branch that is not taken
//      delays nothing.
//   4. A fetch of a partial run does not wait for updates that need feeds, which may come later.
//
// Runs before all other passes, because they could turn a computed value into a read. Takes time
// linear in the graph per fetched variable. Returns the number of fetches that wait for an update.
// Not an optimization, so it always runs.
absl::StatusOr<int> FetchVariablesLate(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_LATE_FETCHES_H_
