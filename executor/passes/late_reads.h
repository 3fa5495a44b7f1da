// Lets a node that is ordered after an update of a reference variable read the updated value, as in
// TensorFlow.
#ifndef SLUICE_EXECUTOR_PASSES_LATE_READS_H_
#define SLUICE_EXECUTOR_PASSES_LATE_READS_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"
#include "graph/ir/graph.h"

namespace sluice {

// In TensorFlow the Identity of a reference shares the memory of the variable, and updates happen
// in place. A node that is ordered after an update therefore sees the update, even if its Identity
// ran before. Graphs rely on that: SyncReplicasOptimizer fills its tokens with `global_step/read`.
// Here a value that was read never changes. So the input of such a node is redirected to the
// variable, which the node then reads when it runs. All other nodes keep the value that the
// Identity read.
//
// The graph must be placed. A Merge keeps its inputs, and a node on another device than the
// variable keeps the value of the Identity, as in TensorFlow. Returns the number of inputs that
// were redirected. Not an optimization, so it always runs.
absl::StatusOr<int> ReadVariablesLate(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_LATE_READS_H_
