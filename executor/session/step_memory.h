// Computes the memory that a step needs before it runs.
#ifndef SLUICE_EXECUTOR_SESSION_STEP_MEMORY_H_
#define SLUICE_EXECUTOR_SESSION_STEP_MEMORY_H_

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/memory/memory_plan.h"
#include "executor/session/session.h"
#include "graph/ir/graph.h"
#include "graph/tensor/shape.h"

namespace sluice {

// Returns the planned memory of a step with feeds of these shapes. Prepares the step like a session
// with these options, but runs nothing. Returns the errors that preparing the first Run can have,
// and INVALID_ARGUMENT if the step does not run on one task of this process.
absl::StatusOr<MemoryPlan> MemoryOf(Graph& graph, const SessionOptions& options,
                                    absl::Span<const std::pair<Output, TensorShape>> feeds,
                                    const OutputList& fetches,
                                    const std::vector<Operation>& targets = {});

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_STEP_MEMORY_H_
