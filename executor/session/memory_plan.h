// What the steps of a graph need of memory, known before they run.
#ifndef SLUICE_EXECUTOR_SESSION_MEMORY_PLAN_H_
#define SLUICE_EXECUTOR_SESSION_MEMORY_PLAN_H_

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/plan/memory_plan.h"
#include "executor/session/session.h"
#include "graph/ir/graph.h"
#include "graph/tensor/shape.h"

namespace sluice {

// Of steps to come; a feed is a tensor and the shape that it will have. Makes a plan as a session
// with these options does, and runs nothing. Errors as those of the first Run.
absl::StatusOr<MemoryPlan> MemoryOf(Graph& graph, const SessionOptions& options,
                                    absl::Span<const std::pair<Output, TensorShape>> feeds,
                                    const OutputList& fetches,
                                    const std::vector<Operation>& targets = {});

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_MEMORY_PLAN_H_
