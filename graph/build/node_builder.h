// A NodeBuilder adds one node to a graph. The graph's open scopes (graph/build/scopes.h) determine
// the prefix of the node's name, its device, colocation and control dependencies, and the cond or
// loop to which it belongs. The node's type and number attributes follow from the inputs.
//
//   Output sum =
//       NodeBuilder(x.graph(), "AddV2", At::current()).Name("sum").Input(x).Input(y).Finish();
//
// Every builder function uses NodeBuilder. Use it directly for an op that is declared outside the
// library.
//
// Thread safety: that of the graph, which one thread at a time builds.
// Ownership: the graph owns the node.
// Errors: Graph::status() keeps the first one, with the node's name and the line of the user's
// program. From then on Finish returns null, for later nodes, too.
#ifndef SLUICE_GRAPH_BUILD_NODE_BUILDER_H_
#define SLUICE_GRAPH_BUILD_NODE_BUILDER_H_

#include <string>
#include <string_view>
#include <vector>

#include "graph/build/scopes.h"
#include "graph/ir/graph.h"

namespace sluice {

// All methods except Finish return *this. A builder adds one node: call Finish once.
class NodeBuilder {
 public:
  // `op` is the name of a registered op. `at` is the line of the user's program, for errors.
  // `graph` may be null, if no input is valid and so the graph is unknown: Finish then returns
  // null.
  NodeBuilder(Graph* graph, std::string_view op, At at);

  // Sets the node's name inside the current name scope. The builder makes it unique. "" stands for
  // the name of the op. A name that ends in '/' is the full name, without the '/', and is not made
  // unique, as in TensorFlow.
  NodeBuilder& Name(std::string_view name);

  // Inputs are given in the order of the op's arguments. A list argument takes one call with all
  // its tensors, also if there are none.
  NodeBuilder& Input(Output input);
  NodeBuilder& Input(const OutputList& inputs);

  // Makes the node wait for `op`, in addition to the control inputs from open scopes. An invalid
  // operation is ignored.
  NodeBuilder& ControlInput(Operation op);

  // Sets an attribute. The value takes precedence over one that follows from the inputs. Attributes
  // that are neither set nor inferred have the op's default.
  NodeBuilder& Attr(std::string_view name, AttrValue value);
  // Sets the requested device. Open DeviceScopes fill in the fields that `device` does not set.
  NodeBuilder& Device(std::string_view device);
  // Permits inputs that are invalid because their nodes do not exist yet, for the back edges of
  // loops. See NodeSpec::allow_missing_inputs.
  NodeBuilder& AllowMissingInputs();

  // Adds the node and infers the shapes of its outputs. Returns null after an error:
  // INVALID_ARGUMENT for invalid inputs, inputs of another graph, wrong types or attributes, and
  // shapes that do not fit; NOT_FOUND for an unknown op; ALREADY_EXISTS if a node has the full
  // name; FAILED_PRECONDITION if the graph is finalized.
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
// Records that `node` waits for the controls of the open ControlDependencies blocks, so that nodes
// that read it need not wait for them again.
void RecordInFrames(Scopes& scopes, Node* node);

// Returns the graph of the first valid Output. Null if all are invalid.
Graph* GraphOf(std::initializer_list<const Output*> single,
               std::initializer_list<const OutputList*> lists = {});

}  // namespace sluice

#endif  // SLUICE_GRAPH_BUILD_NODE_BUILDER_H_
