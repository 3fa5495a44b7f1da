// The graph: nodes (an op, its inputs, attributes and device), connected by data and control edges.
//
// It is the one representation from the user's builder to the executor's passes. Nodes have dense
// ids in order of creation; the id of a removed node stays unused.
//
// Thread safety: none; one thread builds a graph. Lifetime: handles (Output, Operation) are small
// values, which are valid as long as the node. Errors: Add returns them. Builder functions keep the
// first one in the graph (`status`) and return invalid handles; ops on invalid handles are invalid.
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

// One output of a node. Copyable; invalid (node == nullptr) after an error.
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
  DataType dtype() const;             // DT_INVALID if invalid; may be a ref type
  const PartialShape& shape() const;  // unknown rank if invalid
  std::string name() const;           // "node:0"; "" if invalid
  Graph* graph() const;
  bool operator==(const Output&) const = default;
  bool operator<(const Output& o) const;
};
using OutputList = std::vector<Output>;

// A node that is to be run or waited for.
struct Operation {
  Node* node = nullptr;

  Operation() = default;
  Operation(Node* n) : node(n) {}        // NOLINT: handles convert freely
  Operation(Output o) : node(o.node) {}  // NOLINT: the op that computes a tensor
  explicit operator bool() const { return node != nullptr; }
  const std::string& name() const;  // "" if invalid
  const std::string& device() const;
  Graph* graph() const;
  Output output(int i) const { return Output(node, i); }
  bool operator==(const Operation&) const = default;
};

// The gradient of a gather: rows of a tensor. values[i] belongs to row indices[i]; rows may repeat.
struct IndexedSlices {
  Output values;
  Output indices;
  Output dense_shape;  // may be invalid
  explicit operator bool() const { return static_cast<bool>(values); }
};

// A use of a node's output: input `dst_input` of `dst`.
struct Use {
  Node* dst;
  int src_output;
  int dst_input;
};

// The edge of an input, as an element of its source's list of uses.
struct UseEdge {
  Use use;
  EdgeLinks<UseEdge> links;
};
using UseList = EdgeList<UseEdge, Use, &UseEdge::links, &UseEdge::use>;

// `to` waits for `from`. An element of a list of each.
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

class Node {
 public:
  ~Node();
  int id() const { return id_; }
  const std::string& name() const { return name_; }
  const std::string& op() const { return def_->name; }
  const OpDef& def() const { return *def_; }
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
  void SetAttr(std::string name, AttrValue value) { attrs_[std::move(name)] = std::move(value); }
  void RemoveAttr(std::string_view name);

  // Inputs in the order of the op's arguments, lists flattened.
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  const Output& input(int i) const { return inputs_[i]; }
  absl::Span<const Output> inputs() const { return inputs_; }
  const ControlInputs& control_inputs() const { return control_inputs_; }
  // The declared type of input i: a ref type if the op takes a reference.
  DataType input_type(int i) const { return input_types_[i]; }
  // [first, last) of the inputs of argument `arg` (index in def().inputs).
  std::pair<int, int> InputRange(int arg) const {
    return {input_starts_[arg], input_starts_[arg + 1]};
  }
  std::pair<int, int> OutputRange(int arg) const {
    return {output_starts_[arg], output_starts_[arg + 1]};
  }

  int num_outputs() const { return static_cast<int>(output_types_.size()); }
  DataType output_type(int i) const { return output_types_[i]; }
  const PartialShape& output_shape(int i) const { return output_shapes_[i]; }
  void set_output_shape(int i, PartialShape s) { output_shapes_[i] = std::move(s); }
  // Null unless output i is a handle with known type and shape.
  const HandleData* output_handle(int i) const;
  void set_output_handle(int i, HandleData data);

  // The uses of the outputs in order of creation, and the nodes that wait for this one.
  const UseList& uses() const { return uses_; }
  const ControlOutputs& control_outputs() const { return control_outputs_; }

  // The device that the user requested ("" = any), and the placer's choice ("" = not placed).
  const std::string& device() const { return device_; }
  void set_device(std::string d) { device_ = std::move(d); }
  const std::string& assigned_device() const { return assigned_device_; }
  void set_assigned_device(std::string d) { assigned_device_ = std::move(d); }
  // The nodes that attribute `_class` colocates this one with, without "loc:@".
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

// The argument of Graph::Add: a complete NodeDef, with the types of inputs as attributes.
struct NodeSpec {
  std::string name;  // must be unique
  std::string op;
  std::vector<Output> inputs;
  std::vector<Node*> control_inputs;
  std::string device;
  AttrMap attrs;
  // Accepts invalid Outputs for nodes that do not exist yet (NextIteration -> Merge). UpdateInput
  // sets them before the graph is used.
  bool allow_missing_inputs = false;
  const At* at = nullptr;
};

// The nodes of a variable, which VariableDef names.
struct VariableNodes {
  std::string initializer;    // op that assigns the first value: "w/Assign"
  std::string snapshot;       // tensor that reads it: "w/read:0", "w/Read/ReadVariableOp:0"
  std::string initial_value;  // tensor
  bool trainable = true;
  bool is_resource = false;
};

// GraphDef.versions.
struct GraphVersions {
  int producer = 2474;  // TensorFlow 2.21
  int min_consumer = 0;
  std::vector<int> bad_consumers;
};

class Graph {
 public:
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // Checks name, op, attributes and types of inputs, and fills in default attributes. Shapes of
  // outputs are unknown until InferShapes (graph/infer). INVALID_ARGUMENT, NOT_FOUND (op),
  // ALREADY_EXISTS (name); the error names the node.
  absl::StatusOr<Node*> Add(NodeSpec spec);
  // Removes the node and its edges. Users of its outputs must have been redirected.
  void Remove(Node* node);
  // Connects input i of `node` to `source`. INVALID_ARGUMENT if the types differ.
  absl::Status UpdateInput(Node* node, int i, Output source);
  void AddControlEdge(Node* from, Node* to);  // no effect if there is one
  void RemoveControlEdge(Node* from, Node* to);
  Node* Find(std::string_view name) const;  // null if there is none
  // "name", "name:1", or "^name" (as operation).
  absl::StatusOr<Output> FindOutput(std::string_view tensor_name) const;
  int num_node_ids() const { return static_cast<int>(nodes_.size()); }
  int num_nodes() const { return live_nodes_; }
  Node* node(int id) const { return nodes_[id].get(); }  // null if removed
  std::vector<Node*> nodes() const;                      // in order of creation

  // A name that no node has and that no earlier call returned: `base`, `base_1`, … Names that
  // differ in case only are equal, as in TensorFlow. With mark = false the name is not reserved.
  std::string UniqueName(std::string_view base, bool mark = true);

  // The first error of the builder functions.
  const absl::Status& status() const { return status_; }
  void SetError(const absl::Status& error) { status_.Update(error); }
  // The same, followed by " [built at <file>:<line>]".
  void SetError(const absl::Status& error, At at);

  // The collections of a MetaGraphDef: names of nodes or tensors by key.
  std::map<std::string, std::vector<std::string>, std::less<>>& collections() {
    return collections_;
  }
  const std::map<std::string, std::vector<std::string>, std::less<>>& collections() const {
    return collections_;
  }
  // Empty if there is no such collection.
  const std::vector<std::string>& Collection(std::string_view key) const;
  void AddToCollection(std::string_view key, std::string value);

  // Seeds of random ops are derived from this seed and the node.
  void SetRandomSeed(int64_t seed) {
    random_seed_ = seed;
    has_random_seed_ = true;
  }
  bool has_random_seed() const { return has_random_seed_; }
  int64_t random_seed() const { return random_seed_; }
  // 0, 1, 2, … for random ops without a seed of their own.
  int64_t NextOpSeed() { return op_seeds_++; }

  // The nodes of each variable, by its tensor's name ("w:0"); collections list the same names.
  std::map<std::string, VariableNodes, std::less<>>& variables() { return variables_; }
  const std::map<std::string, VariableNodes, std::less<>>& variables() const { return variables_; }

  GraphVersions& versions() { return versions_; }
  const GraphVersions& versions() const { return versions_; }
  // A serialized FunctionDefLibrary.
  std::string& function_library() { return function_library_; }
  const std::string& function_library() const { return function_library_; }

  // The builder's open scopes.
  Scopes& scopes() { return *scopes_; }
  // Keeps an object alive as long as the graph (control-flow contexts, state of optimizers).
  void Own(std::shared_ptr<void> object) { owned_.push_back(std::move(object)); }

  // From now on Add returns FAILED_PRECONDITION.
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
// (NextIteration -> Merge). INVALID_ARGUMENT "<k> nodes in a cycle".
absl::StatusOr<std::vector<Node*>> TopologicalOrder(const Graph& graph);

}  // namespace sluice

template <>
struct std::hash<sluice::Output> {
  size_t operator()(const sluice::Output& o) const {
    return std::hash<const void*>()(o.node) * 31 + static_cast<size_t>(o.index);
  }
};

#endif  // SLUICE_GRAPH_IR_GRAPH_H_
