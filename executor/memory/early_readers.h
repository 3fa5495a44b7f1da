// Late readers that can release their inputs before the peak of a step.
#ifndef SLUICE_EXECUTOR_MEMORY_EARLY_READERS_H_
#define SLUICE_EXECUTOR_MEMORY_EARLY_READERS_H_

#include <utility>
#include <vector>

#include "executor/memory/memory_plan.h"
#include "executor/memory/step_order.h"
#include "graph/ir/graph.h"

namespace sluice {

// Control edges (from, to) that make such nodes run as soon as they are ready: nodes whose results
// are much smaller than their inputs, like gradients of weights compared with activations. A plan
// runs the node that became ready last, so without these edges nodes for which nothing waits run
// after the whole backward pass.
std::vector<std::pair<Node*, Node*>> EdgesOfEarlyReaders(const Graph& graph,
                                                         const MemoryPlan& memory,
                                                         const StepOrder& order);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_MEMORY_EARLY_READERS_H_
