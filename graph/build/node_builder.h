// Makes one node under the graph's open scopes: unique name, device, colocation, control
// dependencies, cond/while context; attributes of types and counts follow from the inputs.
//
// Every builder function is a call of this. It never fails: the first error goes to
// Graph::status(), and Finish returns an invalid handle.
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
  // `graph` may be null (an op on invalid inputs): Finish then returns an invalid handle.
  NodeBuilder(Graph* graph, std::string_view op, At at);

  // Base of the name inside the current scope; "" = the op's own. One that ends in '/' is taken
  // whole, as the scope it names (TensorFlow's re-entered scopes).
  NodeBuilder& Name(std::string_view name);
  // In the order of the op's arguments; a list argument takes one call with all its tensors.
  NodeBuilder& Input(Output input);
  NodeBuilder& Input(const OutputList& inputs);
  NodeBuilder& ControlInput(Operation op);
  // Wins over what follows from the inputs.
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

// What a node with these inputs waits for because of the open ControlDependencies blocks.
std::vector<Node*> OpenControls(const Scopes& scopes, const OutputList& inputs);

// The graph of the first valid handle; null if there is none.
Graph* GraphOf(std::initializer_list<const Output*> single,
               std::initializer_list<const OutputList*> lists = {});

}  // namespace sluice

#endif  // SLUICE_GRAPH_BUILD_NODE_BUILDER_H_
