// Adds information from the graph to the error of a step.
#ifndef SLUICE_EXECUTOR_SESSION_EXPLAIN_H_
#define SLUICE_EXECUTOR_SESSION_EXPLAIN_H_

#include "absl/status/status.h"
#include "graph/ir/graph.h"

namespace sluice {

// For an uninitialized variable, adds the line that built it and the op that initializes it.
absl::Status ExplainError(absl::Status status, const Graph& graph);
// For an error from a remote master, adds the line that built the node, as in errors of local
// steps.
absl::Status AddLocation(absl::Status status, const Graph& graph);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_EXPLAIN_H_
