// What a user can do about an error of a step, as far as the graph tells.
#ifndef SLUICE_EXECUTOR_SESSION_EXPLAIN_H_
#define SLUICE_EXECUTOR_SESSION_EXPLAIN_H_

#include "absl/status/status.h"
#include "graph/ir/graph.h"

namespace sluice {

// Of an uninitialised variable: where it was made, and which op would initialise it.
absl::Status ExplainError(absl::Status status, const Graph& graph);
// Of an error that a master told: the line that made the node, as for errors of steps here.
absl::Status AddLocation(absl::Status status, const Graph& graph);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_EXPLAIN_H_
