// Which nodes of a step read and write which variable.
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

// By the name of the variable's node, in the order of the nodes' making. A reference is written by
// an op that takes the variable itself and read by one that takes its value; of a handle the ops
// that only read are known by name.
std::map<std::string, std::vector<VariableAccess>> VariableAccesses(const StepNodes& nodes);

}  // namespace sluice

#endif  // SLUICE_GRAPH_LINT_VARIABLE_ACCESS_H_
