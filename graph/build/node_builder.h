// Adds one node under the graph's open scopes: unique name, device, colocation, control
// dependencies, cond or while context. Type and number attributes follow from the inputs.
//
// Every builder function uses it.
//
// Thread safety: as the graph's. Errors: Graph::status() keeps the first one; Finish then returns
// null.
#ifndef SLUICE_GRAPH_BUILD_NODE_BUILDER_H_
#define SLUICE_GRAPH_BUILD_NODE_BUILDER_H_

#include <string>
#include <string_view>
#include <vector>

#include "graph/build/scopes.h"
#include "graph/ir/graph.h"

namespace sluice {

class NodeBuilder {
 public:
  // `graph` is null for an op on invalid inputs: Finish then returns null.
  NodeBuilder(Graph* graph, std::string_view op, At at);

  // Base of the name inside the current scope; "" = the op's name. A name that ends in '/' is the
  // full name, as in TensorFlow's re-entered scopes.
  NodeBuilder& Name(std::string_view name);
  // In the order of the op's arguments. A list argument takes one call with all its tensors.
  NodeBuilder& Input(Output input);
  NodeBuilder& Input(const OutputList& inputs);
  NodeBuilder& ControlInput(Operation op);
  // Takes precedence over the value that follows from the inputs.
  NodeBuilder& Attr(std::string_view name, AttrValue value);
  NodeBuilder& Device(std::string_view device);
  // See NodeSpec::allow_missing_inputs.
  NodeBuilder& AllowMissingInputs();

  // Null after an error.
  Node* Finish();

 private:
  struct Argument {
    OutputList tensors;
    bool is_list;
  };
  absl::StatusOr<Node*> Build();
  absl::Status InferAttrs(const OpDef& def);

  Graph* graph_;
  At at_;
  std::string name_;
  std::vector<Argument> arguments_;
  bool allow_missing_ = false;
  NodeSpec spec_;
};

// The nodes that a node with these inputs must wait for under the open ControlDependencies blocks.
std::vector<Node*> OpenControls(const Scopes& scopes, const OutputList& inputs);

// The graph of the first valid handle, or null.
Graph* GraphOf(std::initializer_list<const Output*> single,
               std::initializer_list<const OutputList*> lists = {});

}  // namespace sluice

#endif  // SLUICE_GRAPH_BUILD_NODE_BUILDER_H_
