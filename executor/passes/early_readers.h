// Late readers that could let go of what they read before the peak of a step.
#ifndef SLUICE_EXECUTOR_PASSES_EARLY_READERS_H_
#define SLUICE_EXECUTOR_PASSES_EARLY_READERS_H_

#include <utility>
#include <vector>

#include "executor/passes/step_order.h"
#include "executor/plan/memory_plan.h"
#include "graph/ir/graph.h"

namespace sluice {

// Control edges (from, to), by which such nodes run as soon as they can: those that make much
// smaller results, as gradients of weights are beside activations. A plan runs what became ready
// last, and so comes to them after the whole backward pass where nothing waits for them.
std::vector<std::pair<Node*, Node*>> EdgesOfEarlyReaders(const Graph& graph,
                                                         const MemoryPlan& memory,
                                                         const StepOrder& order);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_EARLY_READERS_H_
