// The graph: nodes (an op, its inputs, attributes and device), connected by data and control edges.
//
// Users' programs build graphs, and the executor's passes rewrite them in the same form. Programs
// add nodes by builder functions (ops/builders/ops.h, ops/sugar.h) and use the handles that these
// return:
//
//   Graph g;
//   Output x = Placeholder(g, DT_FLOAT, {-1, 784});
//   Output y = MatMul(x, w);
//   if (!g.status().ok()) return g.status();
//
// Thread safety: none; one thread builds a graph. Steps only read it: a session may run while no
// thread changes the graph. Different threads may build different graphs.
// Ownership and lifetime: the graph owns its nodes, contexts and the objects passed to Own. Handles
// (Output, Operation) are small values, which are valid as long as the node.
// Errors: Add returns them. Builder functions keep the first one in the graph (`status`) and return
// invalid handles; ops on invalid handles are invalid. So a program may check once, after building.
// Reference: tf.Graph; tensorflow::Graph for the edges.
#ifndef SLUICE_GRAPH_IR_GRAPH_H_
#define SLUICE_GRAPH_IR_GRAPH_H_

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/ir/edge_list.h"
#include "graph/op/attr.h"
#include "graph/op/op_def.h"
#include "graph/tensor/shape.h"

namespace sluice {

class ControlFlowContext;  // graph/build/control_flow_context.h
class Graph;
class Node;
struct Scopes;  // graph/ir/scopes.h

// The line of the user's program that adds a node; the default argument of every builder function.
using At = std::source_location;

// One output of a node. Copyable; invalid (node == nullptr) after an error. Its methods accept
// invalid handles.
struct Output {
  Node* node = nullptr;
  int index = 0;

  Output() = default;
  // A node converts to its output 0. A template, so that a literal 0 does not convert: otherwise
  // `Reshape(x, {0, -1})` would be ambiguous.
  template <typename N>
  requires std::same_as<N, Node> Output(N* n, int i = 0)
      : node(n), index(i) {}  // NOLINT: see above

  explicit operator bool() const { return node != nullptr; }
  // May be a ref type, if the op returns a reference to a variable. DT_INVALID if invalid.
  DataType dtype() const;

  // The static shape: the sizes that hold in every step, -1 for those that vary. Of unknown rank if
  // invalid.
  const PartialShape& shape() const;
  // "node:0", as feeds, fetches and collections name tensors. "" if invalid.
  std::string name() const;
  // Null if invalid.
  Graph* graph() const;
  bool operator==(const Output&) const = default;
  // In the order of creation; invalid handles come first.
  bool operator<(const Output& o) const;
};
using OutputList = std::vector<Output>;

// A node that is to be run or waited for, such as a target of Session::Run or a control input. Its
// methods accept invalid handles.
struct Operation {
  Node* node = nullptr;

  Operation() = default;
  Operation(Node* n) : node(n) {}        // NOLINT: handles convert freely
  Operation(Output o) : node(o.node) {}  // NOLINT: the op that computes a tensor
  explicit operator bool() const { return node != nullptr; }
  // "" if the handle is invalid. `device` is the requested device.
  const std::string& name() const;
  const std::string& device() const;
  Graph* graph() const;
  // Output i of the node, which must exist.
  Output output(int i) const { return Output(node, i); }
  bool operator==(const Operation&) const = default;
};

// The gradient of a gather: rows of a tensor. values[i] belongs to row indices[i]; rows may repeat.
// `values` is [n, row...], `indices` is [n] (int32 or int64), `dense_shape` is the whole tensor's
// shape as a vector. Reference: tf.IndexedSlices.
struct IndexedSlices {
  Output values;
  Output indices;
  // Invalid if the shape of the whole tensor is not known.
  Output dense_shape;
  explicit operator bool() const { return static_cast<bool>(values); }
};

// A use of output `src_output` of a node: input `dst_input` of `dst` reads it.
struct Use {
  Node* dst;
  int src_output;
  int dst_input;
};

// The edge of one input. It is in the list of uses of the node that the input reads.
struct UseEdge {
  Use use;
  EdgeLinks<UseEdge> links;
};
using UseList = EdgeList<UseEdge, Use, &UseEdge::links, &UseEdge::use>;

// `to` waits for `from`. The edge is in a list of each of the two nodes.
struct ControlEdge {
  Node* from;
  Node* to;
  EdgeLinks<ControlEdge> in;   // among the control inputs of `to`
  EdgeLinks<ControlEdge> out;  // among the control outputs of `from`
};
using ControlInputs = EdgeList<ControlEdge, Node*, &ControlEdge::in, &ControlEdge::from>;
using ControlOutputs = EdgeList<ControlEdge, Node*, &ControlEdge::out, &ControlEdge::to>;

// Type and shape of the variable behind a resource handle, which shape functions infer.
struct HandleData {
  DataType dtype = DT_INVALID;
  PartialShape shape;
};

// One op in the graph. Graph::Add makes it; the graph owns it. References that a method returns are
// valid until the node changes.
//
//   for (const Use& use : node->uses()) …          // readers of its outputs
//   if (const auto* value = node->FindAttr<Tensor>("value")) …
class Node {
 public:
  ~Node();

  // Dense numbers in order of creation, for use as indices of arrays of `num_node_ids()` elements.
  // The id of a removed node stays unused.
  int id() const { return id_; }
  const std::string& name() const { return name_; }
  // The op and what it declares. The declaration lives as long as the process.
  const std::string& op() const { return def_->name; }
  const OpDef& def() const { return *def_; }
  // Properties of the op on which passes rely, so that they need no lists of ops.
  const OpTraits& traits() const { return def_->traits; }
  OpRole role() const { return def_->traits.role; }
  Graph* graph() const { return graph_; }

  // All attributes, with defaults filled in, and with those that begin with '_'.
  const AttrMap& attrs() const { return attrs_; }
  // Null if absent or of another kind.
  template <typename T>
  const T* FindAttr(std::string_view name) const {
    return sluice::FindAttr<T>(attrs_, name);
  }
  // `otherwise` if absent or of another kind.
  template <typename T>
  T AttrOr(std::string_view name, T otherwise) const {
    const T* v = FindAttr<T>(name);
    return v ? *v : otherwise;
  }
  // Sets an attribute without checks. The types of inputs and outputs stay as they are, even if the
  // op derives them from this attribute.
  void SetAttr(std::string name, AttrValue value) { attrs_[std::move(name)] = std::move(value); }
  // No effect if there is no such attribute.
  void RemoveAttr(std::string_view name);

  // Data inputs in the order of the op's arguments, lists flattened. An input is invalid only in a
  // loop under construction, or if its source was removed.
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  const Output& input(int i) const { return inputs_[i]; }
  absl::Span<const Output> inputs() const { return inputs_; }
  const ControlInputs& control_inputs() const { return control_inputs_; }
  // The declared type of input i: a ref type if the op takes a reference.
  DataType input_type(int i) const { return input_types_[i]; }
  // Returns {first, end}: inputs [first, end) belong to argument `arg`, an index in def().inputs.
  std::pair<int, int> InputRange(int arg) const {
    return {input_starts_[arg], input_starts_[arg + 1]};
  }
  std::pair<int, int> OutputRange(int arg) const {
    return {output_starts_[arg], output_starts_[arg + 1]};
  }

  int num_outputs() const { return static_cast<int>(output_types_.size()); }
  DataType output_type(int i) const { return output_types_[i]; }

  // The inferred shape of an output. Its rank is unknown until InferShapes. Passes rely on it, so
  // set only sizes that hold in every step.
  const PartialShape& output_shape(int i) const { return output_shapes_[i]; }
  void set_output_shape(int i, PartialShape s) { output_shapes_[i] = std::move(s); }
  // Null unless output i is a handle with known type and shape.
  const HandleData* output_handle(int i) const;
  void set_output_handle(int i, HandleData data);

  // `uses` lists the inputs of other nodes that read an output of this one, `control_outputs` the
  // nodes that wait for it, in order of creation. Do not change edges while you iterate.
  const UseList& uses() const { return uses_; }
  const ControlOutputs& control_outputs() const { return control_outputs_; }

  // The device that the user requested ("" = any), and the placer's choice ("" = not placed):
  // "/job:worker/task:0/device:CPU:0", or parts of it.
  const std::string& device() const { return device_; }
  void set_device(std::string d) { device_ = std::move(d); }
  const std::string& assigned_device() const { return assigned_device_; }
  void set_assigned_device(std::string d) { assigned_device_ = std::move(d); }
  // The names of the nodes with which attribute `_class` colocates this one, without "loc:@".
  std::vector<std::string> colocation() const;

  // The branch of a cond or body of a loop that the node belongs to, or null.
  ControlFlowContext* context() const { return context_; }
  void set_context(ControlFlowContext* c) { context_ = c; }

  // The user's line; null for imported nodes.
  const At* at() const { return has_location_ ? &location_ : nullptr; }
  // "file.cc:42" of the user's program; "" for imported nodes.
  std::string location() const;
  // "MatMul node 'dense/MatMul'", the beginning of error messages.
  std::string Describe() const;

  // Whether the op has state or effects, so that passes neither merge nor precompute it.
  bool IsStateful() const { return def_->is_stateful; }

 private:
  friend class Graph;
  Node() = default;

  int id_ = 0;
  Graph* graph_ = nullptr;
  const OpDef* def_ = nullptr;
  std::string name_;
  std::string device_;
  std::string assigned_device_;
  AttrMap attrs_;
  // Most nodes have few edges. Inline, they cost no access to other memory.
  absl::InlinedVector<Output, 2> inputs_;
  absl::InlinedVector<UseEdge, 2> input_edges_;  // in no list if the input is missing
  ControlInputs control_inputs_;                 // the node owns these edges
  absl::InlinedVector<DataType, 4> input_types_;
  absl::InlinedVector<int, 4> input_starts_;  // one per declared argument, and the end
  absl::InlinedVector<DataType, 4> output_types_;
  absl::InlinedVector<int, 4> output_starts_;
  absl::InlinedVector<PartialShape, 1> output_shapes_;
  std::map<int, HandleData> output_handles_;
  UseList uses_;
  ControlOutputs control_outputs_;
  ControlFlowContext* context_ = nullptr;
  At location_;
  bool has_location_ = false;
};

// The argument of Graph::Add: everything that a NodeDef has. Type attributes must be set, too.
struct NodeSpec {
  // Unique in the graph: letters, digits, and `._-/\>` after the first character.
  std::string name;
  std::string op;
  // Data inputs with lists flattened. Control inputs may repeat.
  std::vector<Output> inputs;
  std::vector<Node*> control_inputs;
  std::string device;
  AttrMap attrs;
  // Accepts invalid Outputs for nodes that do not exist yet (NextIteration -> Merge). UpdateInput
  // sets them before the graph is used.
  bool allow_missing_inputs = false;
  // The user's line, which is copied. Null: none.
  const At* at = nullptr;
};

// The names of a variable's nodes, as in a VariableDef.
struct VariableNodes {
  // The op that assigns the first value: "w/Assign".
  std::string initializer;
  // The tensor with the variable's value: "w/read:0", "w/Read/ReadVariableOp:0".
  std::string snapshot;
  // The tensor with the first value.
  std::string initial_value;
  // Whether optimizers update the variable by default.
  bool trainable = true;
  // Whether the variable is a resource handle, not a reference.
  bool is_resource = false;
};

// Compatibility of a graph with programs, from GraphDef.versions. A program must know at least
// version `min_consumer`, and must not be one of `bad_consumers`. `producer` is the version of the
// writer.
struct GraphVersions {
  // The version of TensorFlow 2.21.
  int producer = 2474;
  int min_consumer = 0;
  std::vector<int> bad_consumers;
};

// Owns the nodes, and what builder functions need: names, scopes, collections, the first error. Not
// copyable, because sessions and nodes point to it. To copy a graph, export and import it
// (graph/format/graph_def.h).
class Graph {
 public:
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // Adds a node. Checks name, attributes and types of inputs, and fills in default attributes.
  // Shapes of outputs are unknown until InferShapes (graph/infer). Scopes have no effect: builder
  // functions and NodeBuilder apply them. A step that needs a node whose op is not registered fails
  // (unregistered_op.h).
  //
  // INVALID_ARGUMENT if the node is invalid, ALREADY_EXISTS if a node has its name,
  // FAILED_PRECONDITION if the graph is finalized. The error names the node, and the graph is
  // unchanged.
  absl::StatusOr<Node*> Add(NodeSpec spec);

  // Removes and deletes the node with its edges. Before the call, connect the readers of its
  // outputs to other nodes (UpdateInput): an input that still reads the node becomes invalid.
  // Handles to the node dangle.
  void Remove(Node* node);

  // Connects input i of `node` to `source`. Shapes are not inferred again. INVALID_ARGUMENT if
  // there is no input i, `source` is invalid or the types differ; the node is then unchanged.
  absl::Status UpdateInput(Node* node, int i, Output source);

  // Makes `to` wait for `from`. No effect if `to` already has this control input. Cycles are not
  // detected here: TopologicalOrder reports them.
  void AddControlEdge(Node* from, Node* to);
  void RemoveControlEdge(Node* from, Node* to);
  // The node of this name. Null if there is none.
  Node* Find(std::string_view name) const;

  // The tensor with this name: "name" (output 0) or "name:1". "^name" and "name" also find a node
  // without outputs, as output 0, which converts to an Operation. NOT_FOUND if there is no such
  // node, INVALID_ARGUMENT if it has no such output.
  absl::StatusOr<Output> FindOutput(std::string_view tensor_name) const;
  // One more than the largest id so far, and the number of nodes that were not removed.
  int num_node_ids() const { return static_cast<int>(nodes_.size()); }
  int num_nodes() const { return live_nodes_; }
  // The node of an id below num_node_ids(). Null if it was removed.
  Node* node(int id) const { return nodes_[id].get(); }
  // All nodes in order of creation, as a new list.
  std::vector<Node*> nodes() const;

  // A name that no node has and that no earlier call returned: `base`, `base_1`, … Names that
  // differ in case only are equal, as in TensorFlow. With mark = false the name is not reserved.
  std::string UniqueName(std::string_view base, bool mark = true);

  // OK, or the first error of the builder functions, with the node and the user's line. Nothing
  // resets the error: build a new graph after it.
  const absl::Status& status() const { return status_; }
  // Keeps the first error; no effect with OK or after another error.
  void SetError(const absl::Status& error) { status_.Update(error); }
  // The same, with " [built at <file>:<line>]" after the text of the error.
  void SetError(const absl::Status& error, At at);

  // The collections of a MetaGraphDef: by key, the names of nodes or tensors (or serialized
  // messages, see graph/format/meta_graph.h). Reference: tf.Graph.get_collection.
  std::map<std::string, std::vector<std::string>, std::less<>>& collections() {
    return collections_;
  }
  const std::map<std::string, std::vector<std::string>, std::less<>>& collections() const {
    return collections_;
  }

  // The entries of a collection in order of addition. Empty if there is no such collection. Valid
  // until the collection changes.
  //
  //   g.AddToCollection("my_losses", loss.name());
  //   for (const std::string& name : g.Collection("my_losses")) … g.FindOutput(name) …
  const std::vector<std::string>& Collection(std::string_view key) const;
  // Appends `value`, also if it is there already.
  void AddToCollection(std::string_view key, std::string value);

  // Makes random ops reproducible: an op without a seed of its own gets this seed and the number of
  // such ops before it. Without any seed, random ops draw new values in every session. Reference:
  // tf.compat.v1.set_random_seed.
  void SetRandomSeed(int64_t seed) {
    random_seed_ = seed;
    has_random_seed_ = true;
  }
  bool has_random_seed() const { return has_random_seed_; }
  int64_t random_seed() const { return random_seed_; }
  // Returns 0, 1, 2, …: a number for each random op without a seed of its own.
  int64_t NextOpSeed() { return op_seeds_++; }

  // The nodes of each variable, by its tensor's name ("w:0"); collections list the same names.
  std::map<std::string, VariableNodes, std::less<>>& variables() { return variables_; }
  const std::map<std::string, VariableNodes, std::less<>>& variables() const { return variables_; }

  // The compatibility of the graph. An import merges it with the versions of the imported graph.
  GraphVersions& versions() { return versions_; }
  const GraphVersions& versions() const { return versions_; }
  // A serialized FunctionDefLibrary. "" if the graph has no functions.
  std::string& function_library() { return function_library_; }
  const std::string& function_library() const { return function_library_; }

  // The builder's open scopes. Programs use the classes of graph/build/scopes.h instead.
  Scopes& scopes() { return *scopes_; }
  // Keeps `object` alive as long as the graph. For control-flow contexts and the state of
  // optimizers.
  void Own(std::shared_ptr<void> object) { owned_.push_back(std::move(object)); }

  // Forbids further nodes: from now on Add returns FAILED_PRECONDITION. Call it before a training
  // loop, to find code that adds nodes in every iteration. Reference: tf.Graph.finalize.
  void Finalize() { finalized_ = true; }
  bool finalized() const { return finalized_; }

 private:
  struct Names;

  absl::Status Resolve(NodeSpec& spec, Node& node) const;
  static void LinkInput(Node* node, int i);
  static void LinkControl(Node* from, Node* to);
  static void Unlink(ControlEdge* edge);

  std::vector<std::unique_ptr<Node>> nodes_;
  int live_nodes_ = 0;
  std::unique_ptr<Names> names_;
  absl::Status status_;
  std::map<std::string, std::vector<std::string>, std::less<>> collections_;
  GraphVersions versions_;
  std::string function_library_;
  std::unique_ptr<Scopes> scopes_;
  std::vector<std::shared_ptr<void>> owned_;
  int64_t random_seed_ = 0;
  int64_t op_seeds_ = 0;
  bool has_random_seed_ = false;
  std::map<std::string, VariableNodes, std::less<>> variables_;
  bool finalized_ = false;
};

// The nodes, each after its inputs and control inputs, without regard to back edges of loops
// (NextIteration -> Merge). Takes time proportional to nodes and edges. INVALID_ARGUMENT "<k> nodes
// in a cycle" if there is another cycle.
absl::StatusOr<std::vector<Node*>> TopologicalOrder(const Graph& graph);

}  // namespace sluice

template <>
struct std::hash<sluice::Output> {
  size_t operator()(const sluice::Output& o) const {
    return std::hash<const void*>()(o.node) * 31 + static_cast<size_t>(o.index);
  }
};

#endif  // SLUICE_GRAPH_IR_GRAPH_H_
