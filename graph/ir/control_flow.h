// Recognizes the nodes of branches and loops.
#ifndef SLUICE_GRAPH_IR_CONTROL_FLOW_H_
#define SLUICE_GRAPH_IR_CONTROL_FLOW_H_

#include <vector>

#include "graph/ir/graph.h"

namespace sluice {

inline bool IsSwitch(const Node& node) { return node.role() == OpRole::kSwitch; }
inline bool IsMerge(const Node& node) { return node.role() == OpRole::kMerge; }
inline bool IsEnter(const Node& node) { return node.role() == OpRole::kEnter; }
inline bool IsExit(const Node& node) { return node.role() == OpRole::kExit; }
inline bool IsNextIteration(const Node& node) { return node.role() == OpRole::kNextIteration; }
inline bool IsLoopCond(const Node& node) { return node.role() == OpRole::kLoopCond; }

// Whether the node is an Enter whose value all iterations of the loop see.
inline bool IsConstantEnter(const Node& node) {
  return IsEnter(node) && node.AttrOr<bool>("is_constant", false);
}

// Whether the node is the Switch of a loop variable, which passes the value on to the loop's body
// or to the Exit.
inline bool IsLoopSwitch(const Node& node) {
  return IsSwitch(node) && node.input(1) && IsLoopCond(*node.input(1).node);
}

// Whether the edge is the one on which the value of a loop variable goes to the next iteration.
inline bool IsBackEdge(const Node& from, const Node& to) {
  return IsMerge(to) && IsNextIteration(from);
}

// Returns for each node id whether the node may be dead (skipped in a step): it runs only if a
// certain branch is taken, if a loop continues, or if the sender of a received tensor was alive.
std::vector<bool> ConditionalNodes(const Graph& graph);

}  // namespace sluice

#endif  // SLUICE_GRAPH_IR_CONTROL_FLOW_H_
