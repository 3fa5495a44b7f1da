// Finds nodes that create and read variables.
#ifndef SLUICE_GRAPH_IR_VARIABLE_USE_H_
#define SLUICE_GRAPH_IR_VARIABLE_USE_H_

#include "graph/ir/constant.h"
#include "graph/ir/graph.h"

namespace sluice {

// Output 0 is the reference or handle of a variable.
inline bool CreatesVariable(const Node& node) {
  return node.traits().variable_use == VariableUse::kCreates;
}

// Output 0 is the value of a variable, and the node does nothing else.
inline bool ReadsVariable(const Node& node) {
  if (node.traits().variable_use == VariableUse::kReadsValue) return true;
  return OnlyPassesOn(node) && node.input(0) && IsRefType(node.input(0).dtype());
}

}  // namespace sluice

#endif  // SLUICE_GRAPH_IR_VARIABLE_USE_H_
