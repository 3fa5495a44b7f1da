// Declares Graph, a dataflow graph: nodes that data edges and control edges connect. A node has an
// op, inputs, attributes and a device.
//
// Users' programs build graphs. Before a step runs, the executor's passes rewrite a copy of the
// graph, in the same classes. Programs add nodes by builder functions (ops/builders/ops.h,
// ops/sugar.h) and use the handles that these return:
//
//   Graph g;
//   Output x = Placeholder(g, DT_FLOAT, {-1, 784});
//   Output y = MatMul(x, w);
//   if (!g.status().ok()) return g.status();
//
// Thread safety: none; one thread builds a graph. Steps only read it: a session may run while no
// thread changes the graph. Different threads may build different graphs.
// Ownership and lifetime: the graph owns its nodes and the objects passed to Own. Handles (Output,
// Operation) are small values, which are valid as long as the node.
// Errors: Graph::Add returns them. Builder functions store the first error in the graph (`status`)
// and return invalid handles. A builder function that gets an invalid handle returns an invalid
// one. So a program may check `status` once, after building.
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

// The line of the user's program that adds a node. Builder functions take it as their last
// parameter, which is by default At::current(), the line of the call.
using At = std::source_location;

// A handle to one output of a node: the output with number `index`. Builder functions return an
// invalid handle (node == nullptr) after an error. The methods accept invalid handles.
struct Output {
  Node* node = nullptr;
  int index = 0;

  Output() = default;
  // A node converts to its output 0. The constructor is a template, so that a literal 0 does not
  // convert as a null pointer. Otherwise `Reshape(x, {0, -1})` would be ambiguous: {0, -1} could be
  // an Output as well as a list of sizes.
  template <typename N>
  requires std::same_as<N, Node> Output(N* n, int i = 0)
      : node(n), index(i) {}  // NOLINT: see above

  explicit operator bool() const { return node != nullptr; }
  // The type. It is a ref type, such as DT_FLOAT_REF, if the output is a reference to a variable.
  // DT_INVALID if the handle is invalid.
  DataType dtype() const;

  // The static shape: a size is -1 unless it is known and the same in every step. The rank is
  // unknown if the handle is invalid.
  const PartialShape& shape() const;
  // "node:0", the form in which feeds, fetches and collections name tensors. "" if the handle is
  // invalid.
  std::string name() const;
  // The graph that owns the node. Null if the handle is invalid.
  Graph* graph() const;
  bool operator==(const Output&) const = default;
  // Orders outputs by the creation of their nodes, then by index. Invalid handles come first.
  bool operator<(const Output& o) const;
};
using OutputList = std::vector<Output>;

// A handle to a node that is to be run or waited for, such as a target of Session::Run or a control
// input. Invalid if node == nullptr. The methods accept invalid handles.
struct Operation {
  Node* node = nullptr;

  Operation() = default;
  Operation(Node* n) : node(n) {}        // NOLINT: a node converts to a handle
  Operation(Output o) : node(o.node) {}  // NOLINT: the op that computes a tensor
  explicit operator bool() const { return node != nullptr; }
  // The node's name, and the device that was requested for it ("" = any). Both are "" if the handle
  // is invalid.
  const std::string& name() const;
  const std::string& device() const;
  // The graph that owns the node. Null if the handle is invalid.
  Graph* graph() const;
  // Returns output i, which the node must have. Invalid if this handle is.
  Output output(int i) const { return Output(node, i); }
  bool operator==(const Operation&) const = default;
};

// A tensor of which only n rows are stored, such as the gradient of a gather. The other rows are 0.
// `values` has shape [n, <shape of a row>], and `indices` has shape [n] (int32 or int64): values[i]
// belongs to row indices[i]. An index may occur several times: its rows are then added.
// `dense_shape` is a vector with the shape of the whole tensor. Reference: tf.IndexedSlices.
struct IndexedSlices {
  Output values;
  Output indices;
  // Invalid if the shape of the whole tensor is not known.
  Output dense_shape;
  explicit operator bool() const { return static_cast<bool>(values); }
};

// One reader of a node's output: input `dst_input` of `dst` reads output `src_output` of the node
// whose uses() have this element.
struct Use {
  Node* dst;
  int src_output;
  int dst_input;
};

// The data edge to one input of a node. That node owns it. The edge is an element of the uses() of
// the node whose output the input reads.
struct UseEdge {
  Use use;
  EdgeLinks<UseEdge> links;
};
using UseList = EdgeList<UseEdge, Use, &UseEdge::links, &UseEdge::use>;

// A control edge: `to` runs after `from`. The edge is an element of two lists,
// to->control_inputs() and from->control_outputs().
struct ControlEdge {
  Node* from;
  Node* to;
  EdgeLinks<ControlEdge> in;   // neighbors among the control inputs of `to`
  EdgeLinks<ControlEdge> out;  // neighbors among the control outputs of `from`
};
using ControlInputs = EdgeList<ControlEdge, Node*, &ControlEdge::in, &ControlEdge::from>;
using ControlOutputs = EdgeList<ControlEdge, Node*, &ControlEdge::out, &ControlEdge::to>;

// The type and static shape of the values behind a handle: the value of a variable or of an
// embedding table, or each element of a TensorArray or TensorList. Shape functions infer them.
struct HandleData {
  DataType dtype = DT_INVALID;
  PartialShape shape;
};

// A node of the graph: one use of an op. Graph::Add creates it, and the graph owns it. References
// that a method returns are valid until the node changes.
//
//   for (const Use& use : node->uses()) …          // inputs that read an output of the node
//   if (const auto* value = node->FindAttr<Tensor>("value")) …
class Node {
 public:
  ~Node();

  // The number of the node in its graph: 0, 1, 2, … in order of creation. It may serve as an index
  // of an array with graph()->num_node_ids() elements. The id of a removed node is not used again.
  int id() const { return id_; }
  const std::string& name() const { return name_; }
  // The name of the op, and its declaration. The declaration of a registered op lives as long as
  // the process. That of an unregistered op (unregistered_op.h) lives as long as the node.
  const std::string& op() const { return def_->name; }
  const OpDef& def() const { return *def_; }
  // Properties of the op, such as "its output may share the memory of an input". Passes test them,
  // and so need no lists of op names. `role` says whether the op is a Switch, a constant etc. See
  // graph/op/op_traits.h.
  const OpTraits& traits() const { return def_->traits; }
  OpRole role() const { return def_->traits.role; }
  Graph* graph() const { return graph_; }

  // All attributes: those that the op declares, with defaults filled in, and others, such as
  // `_class`.
  const AttrMap& attrs() const { return attrs_; }
  // The value of an attribute. Null if it is absent or its value is not a T.
  template <typename T>
  const T* FindAttr(std::string_view name) const {
    return sluice::FindAttr<T>(attrs_, name);
  }
  // The value of an attribute, or `otherwise` if it is absent or its value is not a T.
  template <typename T>
  T AttrOr(std::string_view name, T otherwise) const {
    const T* v = FindAttr<T>(name);
    return v ? *v : otherwise;
  }
  // Sets an attribute, without a check against the op's declaration. The types of inputs and
  // outputs stay as they are, even if the op derives them from this attribute.
  void SetAttr(std::string name, AttrValue value) { attrs_[std::move(name)] = std::move(value); }
  // No effect if there is no such attribute.
  void RemoveAttr(std::string_view name);

  // The data inputs in the order of the op's arguments. An argument that is a list of N tensors
  // stands for N inputs. An input is an invalid Output only if its source was removed, or if it is
  // the back edge of a loop that is not complete yet.
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  const Output& input(int i) const { return inputs_[i]; }
  absl::Span<const Output> inputs() const { return inputs_; }
  // The nodes for which this node waits without reading them, in the order of their addition.
  const ControlInputs& control_inputs() const { return control_inputs_; }
  // The type that the op declares for input i: a ref type if the op takes a reference.
  DataType input_type(int i) const { return input_types_[i]; }
  // Returns {first, end}: inputs [first, end) belong to argument `arg`, an index in def().inputs.
  // OutputRange does the same for outputs, by an index in def().outputs.
  std::pair<int, int> InputRange(int arg) const {
    return {input_starts_[arg], input_starts_[arg + 1]};
  }
  std::pair<int, int> OutputRange(int arg) const {
    return {output_starts_[arg], output_starts_[arg + 1]};
  }

  int num_outputs() const { return static_cast<int>(output_types_.size()); }
  DataType output_type(int i) const { return output_types_[i]; }

  // The static shape of output i. Its rank is unknown until InferShapes (graph/infer) sets it.
  // Passes rely on it: a size must be -1 unless it is the same in every step.
  const PartialShape& output_shape(int i) const { return output_shapes_[i]; }
  void set_output_shape(int i, PartialShape s) { output_shapes_[i] = std::move(s); }
  // The type and shape of the values behind output i, a handle. Null if they are not known, or if
  // the output is not a handle.
  const HandleData* output_handle(int i) const;
  void set_output_handle(int i, HandleData data);

  // `uses` lists the inputs of other nodes that read an output of this one. `control_outputs` lists
  // the nodes that wait for this one. Both are in the order in which the edges were added. Do not
  // change edges during an iteration.
  const UseList& uses() const { return uses_; }
  const ControlOutputs& control_outputs() const { return control_outputs_; }

  // `device` is the device that the user requested, such as "/job:worker/task:0/device:CPU:0" or a
  // part of such a name ("" = any). `assigned_device` is the choice of the placer ("" = none yet).
  const std::string& device() const { return device_; }
  void set_device(std::string d) { device_ = std::move(d); }
  const std::string& assigned_device() const { return assigned_device_; }
  void set_assigned_device(std::string d) { assigned_device_ = std::move(d); }
  // The names of the nodes on whose device this node must run. They come from
  // the entries "loc:@<name>" of attribute `_class`.
  std::vector<std::string> colocation() const;

  // The innermost branch of a cond, or loop, to which the node belongs. Null if there is none.
  ControlFlowContext* context() const { return context_; }
  void set_context(ControlFlowContext* c) { context_ = c; }

  // The line of the user's program that added the node. Null if it is unknown, as for imported
  // nodes.
  const At* at() const { return has_location_ ? &location_ : nullptr; }
  // The same line as text: "file.cc:42". "" if it is unknown.
  std::string location() const;
  // "MatMul node 'dense/MatMul'", with which error messages begin.
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
  // Most nodes have few edges. A few edges are stored inline, without a separate allocation.
  absl::InlinedVector<Output, 2> inputs_;
  absl::InlinedVector<UseEdge, 2> input_edges_;  // one per input; in no list if it is invalid
  ControlInputs control_inputs_;                 // the node owns these edges
  absl::InlinedVector<DataType, 4> input_types_;
  absl::InlinedVector<int, 4> input_starts_;  // first input of each argument; then num_inputs()
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

// The description of a new node, for Graph::Add: everything that a NodeDef has. Add does not infer
// attributes from the inputs: the caller sets all that have no default, such as the types.
struct NodeSpec {
  // Must be unique in the graph. Consists of letters, digits and `._-/\>`. The name, and each part
  // after a '>', begins with a letter, a digit, '.' or '_'.
  std::string name;
  std::string op;
  // The data inputs in the order of the op's arguments; a list argument stands for several inputs.
  // A node may occur several times in `control_inputs`.
  std::vector<Output> inputs;
  std::vector<Node*> control_inputs;
  std::string device;
  AttrMap attrs;
  // Whether `inputs` may contain invalid Outputs, in place of nodes that do not exist yet: a loop's
  // Merge is added before the NextIteration that it reads. The caller must connect these inputs by
  // UpdateInput before the graph is used.
  bool allow_missing_inputs = false;
  // The line of the user's program, which Add copies. Null if there is none.
  const At* at = nullptr;
};

// The names of the nodes and tensors that belong to a variable, as in a VariableDef.
struct VariableNodes {
  // The op that assigns the initial value: "w/Assign".
  std::string initializer;
  // The tensor with the variable's value: "w/read:0", "w/Read/ReadVariableOp:0".
  std::string snapshot;
  // The tensor with the initial value. "" if an imported VariableDef lacks it.
  std::string initial_value;
  // Whether optimizers update the variable by default.
  bool trainable = true;
  // Whether it is a resource variable, whose op returns a handle. Otherwise the op returns a
  // reference.
  bool is_resource = false;
};

// States which programs may read a graph, as GraphDef.versions does. All numbers are GraphDef
// versions. `producer` is the version of the program that wrote the graph. A program of version v
// may read the graph if v >= `min_consumer` and v is not in `bad_consumers`.
struct GraphVersions {
  // The GraphDef version of TensorFlow 2.21.
  int producer = 2474;
  int min_consumer = 0;
  std::vector<int> bad_consumers;
};

// A dataflow graph. It owns the nodes, and the state that builder functions need: names, scopes,
// collections, the first error. Not copyable, because sessions and nodes point to it. To copy a
// graph, export and import it (graph/format/graph_def.h).
class Graph {
 public:
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // Adds a node. Checks its name, attributes and the types of its inputs, and fills in default
  // attributes. The shapes of its outputs are unknown until InferShapes (graph/infer). Open scopes
  // have no effect: builder functions and NodeBuilder apply them. An unregistered op is accepted:
  // only a step that needs the node fails (unregistered_op.h).
  //
  // INVALID_ARGUMENT if the node is invalid, ALREADY_EXISTS if a node has its name,
  // FAILED_PRECONDITION if the graph is finalized. After an error the graph is unchanged.
  absl::StatusOr<Node*> Add(NodeSpec spec);

  // Removes and deletes the node with its data and control edges. Before the call, connect the
  // readers of its outputs to other nodes (UpdateInput): an input that still reads the node becomes
  // invalid. Handles to the node dangle.
  void Remove(Node* node);

  // Connects input i of `node` to `source`, in place of the previous source. Shapes are not
  // inferred again. INVALID_ARGUMENT if there is no input i, `source` is invalid, or its type does
  // not fit; the node is then unchanged.
  absl::Status UpdateInput(Node* node, int i, Output source);

  // Makes `to` wait for `from`. No effect if `to` already has this control input. Cycles are not
  // detected here: TopologicalOrder reports them.
  void AddControlEdge(Node* from, Node* to);
  // Removes the edge that AddControlEdge adds. No effect if there is none.
  void RemoveControlEdge(Node* from, Node* to);
  // The node of this name. Null if there is none.
  Node* Find(std::string_view name) const;

  // The tensor with this name: "name:1" is output 1 of node "name", and "name" and "^name" are
  // output 0. If the node has no outputs, these names return an Output with index 0, which only
  // serves to be converted to an Operation. NOT_FOUND if there is no such node, INVALID_ARGUMENT if
  // it has no such output.
  absl::StatusOr<Output> FindOutput(std::string_view tensor_name) const;
  // `num_node_ids` counts all nodes ever added: ids are below it. `num_nodes` counts the nodes that
  // were not removed.
  int num_node_ids() const { return static_cast<int>(nodes_.size()); }
  int num_nodes() const { return live_nodes_; }
  // The node with this id, which must be below num_node_ids(). Null if the node was removed.
  Node* node(int id) const { return nodes_[id].get(); }
  // A copy of the list of all nodes, in order of creation. Removed nodes are not in it.
  std::vector<Node*> nodes() const;

  // Returns a name that no node has and that no earlier call reserved: `base`, or else `base_1`,
  // `base_2`, … Reserves it, unless `mark` is false. Names that differ in case only count as equal,
  // as in TensorFlow.
  std::string UniqueName(std::string_view base, bool mark = true);

  // OK, or the first error of the builder functions. Its text names the node and the line of the
  // user's program. Nothing resets the error: after it, a program must build a new graph.
  const absl::Status& status() const { return status_; }
  // Makes `error` the status(). No effect if `error` is OK, or if status() is an error already.
  void SetError(const absl::Status& error) { status_.Update(error); }
  // The same, with " [built at <file>:<line>]" after the text of the error.
  void SetError(const absl::Status& error, At at);

  // The collections of the graph. Each maps a key, such as "trainable_variables", to a list of
  // names of nodes or tensors. Some contain serialized protocol buffers instead of names
  // (graph/format/meta_graph.h). Reference: tf.Graph.get_collection.
  std::map<std::string, std::vector<std::string>, std::less<>>& collections() {
    return collections_;
  }
  const std::map<std::string, std::vector<std::string>, std::less<>>& collections() const {
    return collections_;
  }

  // The entries of a collection in order of addition. Empty if there is no such collection. The
  // reference is valid until that collection changes.
  //
  //   g.AddToCollection("my_losses", loss.name());
  //   for (const std::string& name : g.Collection("my_losses")) … g.FindOutput(name) …
  const std::vector<std::string>& Collection(std::string_view key) const;
  // Appends `value`, also if it is there already.
  void AddToCollection(std::string_view key, std::string value);

  // Makes the random ops that are added from now on reproducible. Each op has a pair of seeds: this
  // one and one of its own, which is NextOpSeed() if the program gives it none. In a graph without
  // a seed, an op without one of its own draws different numbers in every session. Reference:
  // tf.compat.v1.set_random_seed.
  void SetRandomSeed(int64_t seed) {
    random_seed_ = seed;
    has_random_seed_ = true;
  }
  bool has_random_seed() const { return has_random_seed_; }
  int64_t random_seed() const { return random_seed_; }
  // Returns 0 at the first call, then 1, 2, … SetRandomSeed says which random ops use it.
  int64_t NextOpSeed() { return op_seeds_++; }

  // The nodes of each variable. The key is the name of the variable's tensor ("w:0"), by which
  // collections such as "trainable_variables" list it, too.
  std::map<std::string, VariableNodes, std::less<>>& variables() { return variables_; }
  const std::map<std::string, VariableNodes, std::less<>>& variables() const { return variables_; }

  // The programs that may read the graph. An import merges the versions of the imported graph into
  // these.
  GraphVersions& versions() { return versions_; }
  const GraphVersions& versions() const { return versions_; }
  // The graph's functions, as a serialized FunctionDefLibrary. "" if there are none.
  std::string& function_library() { return function_library_; }
  const std::string& function_library() const { return function_library_; }

  // The open scopes (name, device, control dependencies etc.), which NodeBuilder applies to each
  // new node. Programs open and close them by the classes of graph/build/scopes.h.
  Scopes& scopes() { return *scopes_; }
  // Keeps `object` alive as long as the graph. For objects that belong to nodes, such as the
  // contexts of conds and loops, and the constraints of variables.
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

// Returns all nodes in an order in which each node comes after its data and control inputs. Back
// edges of loops (NextIteration -> Merge) do not count. Takes time linear in the number of nodes
// and edges. INVALID_ARGUMENT "<k> nodes in a cycle" if the other edges form a cycle. k is the
// number of nodes in cycles and of those that depend on them.
absl::StatusOr<std::vector<Node*>> TopologicalOrder(const Graph& graph);

}  // namespace sluice

template <>
struct std::hash<sluice::Output> {
  size_t operator()(const sluice::Output& o) const {
    return std::hash<const void*>()(o.node) * 31 + static_cast<size_t>(o.index);
  }
};

#endif  // SLUICE_GRAPH_IR_GRAPH_H_
