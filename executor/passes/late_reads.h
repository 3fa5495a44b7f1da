// Reads of reference variables, at the time at which TensorFlow's readers see them.
#ifndef SLUICE_EXECUTOR_PASSES_LATE_READS_H_
#define SLUICE_EXECUTOR_PASSES_LATE_READS_H_

#include "absl/status/statusor.h"
#include "graph/ir/graph.h"

namespace sluice {

// In TensorFlow the Identity of a reference shares the variable's memory, and updates happen in
// place: an op that is ordered after an update sees it, even if its Identity ran before (graphs
// rely on that: SyncReplicasOptimizer fills its tokens with `global_step/read`). Here a value that
// was read never changes, so such an op's input is redirected to the variable itself, which it then
// reads when it runs. Every other op keeps the value that the Identity read.
//
// The graph is placed; an op on another device than the variable's keeps its value, as there.
// Returns how many inputs were redirected. Not an optimisation: never left out.
absl::StatusOr<int> ReadVariablesLate(Graph& graph);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_LATE_READS_H_
