// Finds the nodes that a step can run only after given nodes.
#ifndef SLUICE_EXECUTOR_PASSES_RUN_ORDER_H_
#define SLUICE_EXECUTOR_PASSES_RUN_ORDER_H_

#include <unordered_set>
#include <vector>

#include "graph/ir/graph.h"

namespace sluice {

// Returns all nodes that wait, directly or indirectly, for one of `nodes`. Waiting for an earlier
// iteration of a loop does not count. Takes time linear in the edges of the returned nodes.
std::unordered_set<const Node*> NodesAfter(const std::vector<Node*>& nodes);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_RUN_ORDER_H_
