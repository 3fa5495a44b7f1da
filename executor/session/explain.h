// Adds to the error of a step what the graph says about it.
#ifndef SLUICE_EXECUTOR_SESSION_EXPLAIN_H_
#define SLUICE_EXECUTOR_SESSION_EXPLAIN_H_

#include "absl/status/status.h"
#include "graph/ir/graph.h"

namespace sluice {

// For an uninitialised variable: where it was built, and which op initialises it.
absl::Status ExplainError(absl::Status status, const Graph& graph);
// For an error from a remote master: the line that built the node, as in errors of local steps.
absl::Status AddLocation(absl::Status status, const Graph& graph);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_EXPLAIN_H_
