// Late readers that can release their inputs before the peak of a step.
#ifndef SLUICE_EXECUTOR_MEMORY_EARLY_READERS_H_
#define SLUICE_EXECUTOR_MEMORY_EARLY_READERS_H_

#include <utility>
#include <vector>

#include "executor/memory/memory_plan.h"
#include "executor/memory/step_order.h"
#include "graph/ir/graph.h"

namespace sluice {

// Returns control edges (from, to) that make late readers run as soon as they are ready. These are
// nodes whose results are much smaller than their inputs, such as gradients of weights, which read
// activations. A plan runs the node that became ready last. Without the edges, nodes whose results
// nothing waits for would run after the whole backward pass, and keep their inputs until then.
std::vector<std::pair<Node*, Node*>> EdgesOfEarlyReaders(const Graph& graph,
                                                         const MemoryPlan& memory,
                                                         const StepOrder& order);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_MEMORY_EARLY_READERS_H_
