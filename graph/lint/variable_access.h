// Finds the nodes of a step that read and write each variable.
#ifndef SLUICE_GRAPH_LINT_VARIABLE_ACCESS_H_
#define SLUICE_GRAPH_LINT_VARIABLE_ACCESS_H_

#include <map>
#include <string>
#include <vector>

#include "graph/lint/step_nodes.h"

namespace sluice {

struct VariableAccess {
  const Node* node;
  bool is_write;
};

// By the name of the variable's node, in order of creation. A reference is written by a node that
// takes the reference itself and read by one that takes the value. A handle is written by a node
// unless its op declares that it only reads (VariableUse).
std::map<std::string, std::vector<VariableAccess>> VariableAccesses(const StepNodes& nodes);

}  // namespace sluice

#endif  // SLUICE_GRAPH_LINT_VARIABLE_ACCESS_H_
