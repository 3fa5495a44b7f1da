// The state of the builder's scopes, kept in the graph.
#ifndef SLUICE_GRAPH_IR_SCOPES_H_
#define SLUICE_GRAPH_IR_SCOPES_H_

#include <functional>
#include <string>
#include <vector>

#include "graph/ir/graph.h"

namespace sluice {

// Returns the device of a new node. NodeSpec::device is the device that inner scopes chose.
using DeviceFunction = std::function<std::string(const NodeSpec&)>;

// The open scopes of a graph. Users open the classes of graph/build/scopes.h.
struct Scopes {
  std::string name;  // current name scope: "" or "a/b/"
  // One function per open DeviceScope, innermost last. Inner ones are called first.
  std::vector<DeviceFunction> devices;
  // One open ControlDependencies block.
  struct ControlFrame {
    std::vector<Node*> controls;
    ControlFlowContext* context;  // context of the nodes inside
    std::vector<Node*> seen;      // nodes inside: they already wait for `controls`
    bool new_stack;               // ControlDependencies::None: hides the outer frames
  };
  std::vector<ControlFrame> control_frames;
  std::vector<Node*> colocation;  // open ColocateWith scopes, innermost last
  ControlFlowContext* context = nullptr;
  // If not null, the source line of all new nodes. While the gradient of an op is built, it is the
  // line of that op.
  const At* at = nullptr;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_IR_SCOPES_H_
