// Finds nodes that create and read variables.
#ifndef SLUICE_GRAPH_IR_VARIABLE_USE_H_
#define SLUICE_GRAPH_IR_VARIABLE_USE_H_

#include <optional>
#include <vector>

#include "graph/ir/constant.h"
#include "graph/ir/graph.h"

namespace sluice {

// Whether the node creates a variable. Output 0 is the variable's reference or handle.
inline bool CreatesVariable(const Node& node) {
  return node.traits().variable_use == VariableUse::kCreates;
}

// Whether output 0 is the value of a variable, and the node does nothing else.
inline bool ReadsVariable(const Node& node) {
  if (node.traits().variable_use == VariableUse::kReadsValue) return true;
  return OnlyPassesOn(node) && node.input(0) && IsRefType(node.input(0).dtype());
}

// The node that creates the variable behind a reference or handle, which may have come through
// updates, branches and loops. Null if it is not known before the step.
const Node* VariableBehind(Output value);

// The path from a variable to a value that was read from it.
struct VariableValue {
  Output variable;  // the reference or handle that is read
  // The nodes between the variable and the value, in reverse order: the last one reads the
  // variable. Empty if the value is a reference, because then its reader reads the variable.
  std::vector<Node*> nodes;
};
// Nothing if `value` is computed, not read from a variable.
std::optional<VariableValue> FindVariableValue(Output value);

}  // namespace sluice

#endif  // SLUICE_GRAPH_IR_VARIABLE_USE_H_
