// Adds one node. The graph's open scopes give it a unique name, a device, colocation, control
// dependencies, and its cond or loop. Its type and number attributes follow from the inputs.
//
//   Output sum =
//       NodeBuilder(x.graph(), "AddV2", At::current()).Name("sum").Input(x).Input(y).Finish();
//
// Every builder function uses NodeBuilder. Use it directly for an op that is declared outside the
// library.
//
// Thread safety: that of the graph, which one thread at a time builds.
// Ownership: the graph owns the node.
// Errors: Graph::status() keeps the first one, with the node's name and the user's line. Finish
// returns null then, and for every later node.
#ifndef SLUICE_GRAPH_BUILD_NODE_BUILDER_H_
#define SLUICE_GRAPH_BUILD_NODE_BUILDER_H_

#include <string>
#include <string_view>
#include <vector>

#include "graph/build/scopes.h"
#include "graph/ir/graph.h"

namespace sluice {

// The methods return *this. A builder adds one node: call Finish once.
class NodeBuilder {
 public:
  // `op` is the name of a registered op. `at` is the user's line. `graph` is null for an op on
  // invalid inputs: Finish then returns null.
  NodeBuilder(Graph* graph, std::string_view op, At at);

  // Base of the name inside the current scope; "" = the op's name. A name that ends in '/' is the
  // full name, as in TensorFlow's re-entered scopes.
  NodeBuilder& Name(std::string_view name);

  // Inputs are given in the order of the op's arguments. A list argument takes one call with all
  // its tensors, also if there are none.
  NodeBuilder& Input(Output input);
  NodeBuilder& Input(const OutputList& inputs);

  // The node waits for `op`, in addition to the controls of open scopes. An invalid operation is
  // ignored.
  NodeBuilder& ControlInput(Operation op);

  // Sets an attribute. The value takes precedence over one that follows from the inputs. Attributes
  // that are neither set nor inferred have the op's default.
  NodeBuilder& Attr(std::string_view name, AttrValue value);
  // The requested device. Open DeviceScopes fill in the fields that it does not set.
  NodeBuilder& Device(std::string_view device);
  // Permits invalid inputs, for back edges of loops. See NodeSpec::allow_missing_inputs.
  NodeBuilder& AllowMissingInputs();

  // Adds the node and infers the shapes of its outputs. Null after an error: INVALID_ARGUMENT for
  // invalid inputs, inputs of another graph, wrong types or attributes, and shapes that do not fit;
  // NOT_FOUND for an unknown op; FAILED_PRECONDITION if the graph is finalized.
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

// Returns the control inputs that the open ControlDependencies blocks give to a node with these
// inputs. A block contributes nothing if one of the inputs was added inside it, because that input
// already waits for the block's controls.
std::vector<Node*> OpenControls(const Scopes& scopes, const OutputList& inputs);

// The graph of the first valid handle. Null if all are invalid.
Graph* GraphOf(std::initializer_list<const Output*> single,
               std::initializer_list<const OutputList*> lists = {});

}  // namespace sluice

#endif  // SLUICE_GRAPH_BUILD_NODE_BUILDER_H_
