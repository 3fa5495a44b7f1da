// Adds information from the graph to the error of a step.
#ifndef SLUICE_EXECUTOR_SESSION_EXPLAIN_H_
#define SLUICE_EXECUTOR_SESSION_EXPLAIN_H_

#include "absl/status/status.h"
#include "graph/ir/graph.h"

namespace sluice {

// Adds to an error about an uninitialized variable: the line that built the variable, and the op
// that initializes it.
absl::Status ExplainError(absl::Status status, const Graph& graph);
// Adds to an error from a remote master the line that built the failed node. Errors of local steps
// already have it.
absl::Status AddLocation(absl::Status status, const Graph& graph);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_EXPLAIN_H_
