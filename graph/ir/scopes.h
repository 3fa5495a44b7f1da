// The state of the builder's scopes, kept in the graph.
#ifndef SLUICE_GRAPH_IR_SCOPES_H_
#define SLUICE_GRAPH_IR_SCOPES_H_

#include <functional>
#include <string>
#include <vector>

#include "graph/ir/graph.h"

namespace sluice {

// Device for a node about to be made: gets the node's op and the device asked for inside.
using DeviceFunction = std::function<std::string(const NodeSpec&)>;

// The open scopes of a graph. Users open the classes of graph/build/scopes.h.
struct Scopes {
  std::string name;  // current name scope: "" or "a/b/"
  // Innermost last; each is merged under the ones inside it.
  std::vector<DeviceFunction> devices;
  struct ControlFrame {
    std::vector<Node*> controls;
    ControlFlowContext* context;  // the frame's ops are known to be made in it
    std::vector<Node*> seen;      // nodes made inside: they already carry the dependency
    bool new_stack;               // ControlDependencies(g, None): hides the outer frames
  };
  std::vector<ControlFrame> control_frames;
  std::vector<Node*> colocation;  // innermost last; null = "colocate with nothing"
  ControlFlowContext* context = nullptr;
  // The line that nodes are said to be from, whoever makes them: a gradient is from its op's line.
  const At* at = nullptr;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_IR_SCOPES_H_
