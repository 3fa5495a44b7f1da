// Recomputes results instead of keeping them, so that a step meets its memory limit.
//
// First, the pass lets some late readers run earlier, so that their inputs are released before the
// peak (early_readers.h). Then it recomputes results. Activations, for example, are read in the
// forward pass and again in the backward pass. Among the nodes whose results are alive at a plan's
// peak, the pass copies those that cost least per byte to run again. The nodes that read a result
// after the peak then read the copy's result. A control edge keeps the copy from running too early:
// of the nodes that its first reader waits for, the copy waits for the one that runs last. Copies
// read other copies, or tensors that are alive at that time anyway. After each change a new plan is
// made, and the change is undone if the new plan has no lower peak. Matrix products and
// convolutions are copied only if nothing else is left.
//
// Runs after all other graph passes, because it needs placed nodes and plans. It does not copy
// nodes that are stateful, random, fetched, run for their effect, placed on another device than
// their readers, or dependent on a branch or a loop. Results have the same bits as without copies.
// Cost: at most 66 plans, and only one if the first plan meets the limit.
#ifndef SLUICE_EXECUTOR_MEMORY_REMATERIALIZE_H_
#define SLUICE_EXECUTOR_MEMORY_REMATERIALIZE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "executor/memory/memory_plan.h"
#include "executor/passes/pass_options.h"
#include "executor/plan/plan.h"
#include "graph/ir/graph.h"

namespace sluice {

// A plan, and the memory that its steps need.
struct PlannedStep {
  std::shared_ptr<const Plan> plan;
  MemoryPlan memory;
};

// Makes a new plan for a graph each time that a pass has changed it.
class StepPlanner {
 public:
  virtual ~StepPlanner() = default;
  // Returns the plan of the graph as it is now, and the memory of its steps.
  virtual absl::StatusOr<PlannedStep> Plan() = 0;
};

// Returns the number of copied nodes. After OK, the last plan of PassOptions::planner is the plan
// of the graph, which may still exceed PassOptions::memory_limit_bytes.
absl::StatusOr<int> Rematerialize(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_MEMORY_REMATERIALIZE_H_
