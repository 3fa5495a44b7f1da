// Makes reads of reference variables see the updates that TensorFlow's readers see.
#ifndef SLUICE_EXECUTOR_PASSES_LATE_READS_H_
#define SLUICE_EXECUTOR_PASSES_LATE_READS_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"
#include "graph/ir/graph.h"

namespace sluice {

// In TensorFlow the Identity of a reference shares the variable's memory, and updates are in place.
// So an op that is ordered after an update sees it even if its Identity ran before. Graphs rely on
// that: SyncReplicasOptimizer fills its tokens with `global_step/read`. Here a value that was read
// never changes. So the pass makes such an op read the variable itself, when it runs. All other ops
// keep the value that the Identity read.
//
// Runs on the placed graph. An op on another device than the variable's keeps its value, as in
// TensorFlow. Returns the number of redirected inputs. Results depend on it, so it cannot be
// disabled.
absl::StatusOr<int> ReadVariablesLate(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_LATE_READS_H_
