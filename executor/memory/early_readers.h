// Finds nodes that can run early to release large inputs before the peak of a step's memory.
#ifndef SLUICE_EXECUTOR_MEMORY_EARLY_READERS_H_
#define SLUICE_EXECUTOR_MEMORY_EARLY_READERS_H_

#include <utility>
#include <vector>

#include "executor/memory/memory_plan.h"
#include "executor/memory/step_order.h"
#include "graph/ir/graph.h"

namespace sluice {

// Returns control edges (from, to) that make some nodes run as soon as they are ready: nodes whose
// results are much smaller than their inputs. Gradients of weights, which read activations, are an
// example. In a plan, the node that became ready last runs first. So without these edges, a node
// whose result no other node waits for runs after the whole backward pass, and its inputs stay in
// memory until then.
std::vector<std::pair<Node*, Node*>> EdgesOfEarlyReaders(const Graph& graph,
                                                         const MemoryPlan& memory,
                                                         const StepOrder& order);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_MEMORY_EARLY_READERS_H_
