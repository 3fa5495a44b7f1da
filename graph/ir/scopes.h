// Declares Scopes, the scopes (name, device, control dependencies etc.) that are open while a
// program builds a graph. The graph owns them, and NodeBuilder applies them to each new node.
#ifndef SLUICE_GRAPH_IR_SCOPES_H_
#define SLUICE_GRAPH_IR_SCOPES_H_

#include <functional>
#include <string>
#include <vector>

#include "graph/ir/graph.h"

namespace sluice {

// Returns the device to request for a new node ("" = any). The argument describes the node. Its
// `device` is the result so far: that of the inner scopes, or what the builder of the node set.
using DeviceFunction = std::function<std::string(const NodeSpec&)>;

// The open scopes of a graph. Programs open and close them by the classes of graph/build/scopes.h.
struct Scopes {
  std::string name;  // current name scope: "" (the root) or "a/b/"
  // The device functions of the open scopes, innermost last. For a new node, all are called in
  // turn, the innermost first.
  std::vector<DeviceFunction> devices;
  // One open ControlDependencies block.
  struct ControlFrame {
    std::vector<Node*> controls;  // nodes for which the nodes inside wait
    std::vector<Node*> seen;      // nodes inside: they already wait for `controls`
    bool new_stack = false;       // true for ControlDependencies::None, which hides outer blocks
  };
  std::vector<ControlFrame> control_frames;
  std::vector<Node*> colocation;  // nodes of the open ColocateWith scopes, innermost last
  // The branch of a cond, or loop, to which new nodes belong. Null if there is none.
  ControlFlowContext* context = nullptr;
  // If not null, new nodes get this source location instead of that of the builder's caller. While
  // the gradient of an op is built, it is the location of that op.
  const At* at = nullptr;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_IR_SCOPES_H_
