// Decides whether a pass may merge, move, remove or precompute a node.
#ifndef SLUICE_GRAPH_IR_PURITY_H_
#define SLUICE_GRAPH_IR_PURITY_H_

#include "graph/ir/graph.h"

namespace sluice {

// Returns the reason why a pass may not treat the node as a pure function (graph/op/op_traits.h).
// kNone if the outputs of the node follow from its inputs alone and running it has no other effect.
Impurity ImpurityOf(const Node& node);
inline bool IsPure(const Node& node) { return ImpurityOf(node) == Impurity::kNone; }

}  // namespace sluice

#endif  // SLUICE_GRAPH_IR_PURITY_H_
