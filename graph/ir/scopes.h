// The state of the builder's scopes, kept in the graph.
#ifndef SLUICE_GRAPH_IR_SCOPES_H_
#define SLUICE_GRAPH_IR_SCOPES_H_

#include <functional>
#include <string>
#include <vector>

#include "graph/ir/graph.h"

namespace sluice {

// Chooses the device of a new node from its op and the device of the inner scopes.
using DeviceFunction = std::function<std::string(const NodeSpec&)>;

// The open scopes of a graph. Users open the classes of graph/build/scopes.h.
struct Scopes {
  std::string name;  // current name scope: "" or "a/b/"
  // Innermost last. Inner ones take precedence.
  std::vector<DeviceFunction> devices;
  struct ControlFrame {
    std::vector<Node*> controls;
    ControlFlowContext* context;  // of the nodes inside
    std::vector<Node*> seen;      // nodes inside: they already wait for `controls`
    bool new_stack;               // ControlDependencies::None: hides the outer frames
  };
  std::vector<ControlFrame> control_frames;
  std::vector<Node*> colocation;  // innermost last; null = "colocate with nothing"
  ControlFlowContext* context = nullptr;
  // If set, the location of all new nodes: gradients have the location of their op.
  const At* at = nullptr;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_IR_SCOPES_H_
