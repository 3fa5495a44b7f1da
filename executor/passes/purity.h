// Which nodes a pass may merge, move or compute ahead of a step.
#ifndef SLUICE_EXECUTOR_PASSES_PURITY_H_
#define SLUICE_EXECUTOR_PASSES_PURITY_H_

#include "graph/ir/graph.h"

namespace sluice {

// The node's outputs follow from its inputs alone, and running it has no other effect: no state, no
// reference to a variable, no part in control flow, no tensor that names a resource.
bool IsPure(const Node& node);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_PURITY_H_
