// An Expander adds the nodes that replace a call of a graph function, in the open scopes and
// contexts of a graph. LowerFunctions (lower.h) uses it.
//
// Thread safety: that of the graph. Lifetime: graph, library and options outlive the expander.
// Errors name the call. After an error the graph must not be used.
#ifndef SLUICE_GRAPH_FUNCTION_EXPAND_H_
#define SLUICE_GRAPH_FUNCTION_EXPAND_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/function/body.h"
#include "graph/function/library.h"
#include "graph/function/lower.h"
#include "graph/gradient/gradients.h"
#include "graph/ir/graph.h"

namespace sluice {

// The nodes of an expanded call: its outputs in order, and the nodes for which successors of the
// call must wait.
struct Expansion {
  OutputList outputs;
  std::vector<Node*> controls;
  // The number of outputs per output argument, if the call's op is the name of a function.
  std::vector<size_t> lengths = {};
};

class Expander {
 public:
  Expander(Graph& graph, const FunctionLibrary& library, const LowerOptions& options)
      : graph_(graph), library_(library), options_(options), first_id_(graph.num_node_ids()) {}

  // A call: a node whose op names functions in attributes, or is itself the name of a function.
  struct Call {
    std::string op;
    std::string name;  // of the node; the new nodes are named `name`/…
    const AttrMap* attrs = nullptr;
    OutputList inputs;
    std::string device;
  };
  // Whether calls of `op` can be expanded: PartitionedCall, If, While and the other ops that
  // LowerFunctions replaces.
  static bool Knows(std::string_view op) { return FormOf(op) != nullptr; }
  absl::StatusOr<Expansion> Expand(const Call& call);

  // Makes new nodes wait for `entry` if they have no inputs of any kind and are outside of conds
  // and loops. Null: such nodes wait for nothing.
  void set_entry(Node* entry) { entry_ = entry; }

 private:
  // The method that expands calls of an op, and the least number of inputs that they need.
  struct Form {
    absl::StatusOr<Expansion> (Expander::*expand)(const Call& call);
    size_t min_inputs;
  };
  static const Form* FormOf(std::string_view op);

  absl::StatusOr<Expansion> Plain(const Call& call);
  absl::StatusOr<Expansion> Remote(const Call& call);
  absl::StatusOr<Expansion> If(const Call& call);
  absl::StatusOr<Expansion> Case(const Call& call);
  absl::StatusOr<Expansion> While(const Call& call);
  absl::StatusOr<Expansion> For(const Call& call);
  absl::StatusOr<Expansion> Map(const Call& call);
  absl::StatusOr<Expansion> Gradient(const Call& call);

  // Whether `function` may be expanded. UNIMPLEMENTED if calls nest too deep, RESOURCE_EXHAUSTED if
  // they have added too many nodes, CANCELLED if LowerOptions::is_wanted returns false.
  absl::Status CheckLimits(const std::string& function) const;
  absl::Status TooLarge(const std::string& function) const;
  // Adds the nodes of a function's body.
  absl::StatusOr<Expansion> Body(const FunctionRef& function, const OutputList& args,
                                 const std::string& device);
  // Adds one node of the op `op.name`, because SymbolicGradient accepts an op instead of a
  // function.
  absl::StatusOr<Expansion> OneOp(const FunctionRef& op, const OutputList& args,
                                  const std::string& device);
  absl::Status BodyNodes(const FunctionBody& body, const AttrMap& attrs,
                         const std::vector<OutputList>& args, const std::string& device,
                         std::vector<Expansion>* made);
  absl::Status BodyNodeInto(const FunctionBody& body, int n, const AttrMap& attrs,
                            const std::vector<OutputList>& args, const std::string& device,
                            std::vector<Expansion>* made);
  absl::StatusOr<OutputList> BodyInputs(const FunctionBody& body, const BodyNode& node,
                                        const std::vector<OutputList>& args,
                                        const std::vector<Expansion>& made);
  absl::StatusOr<Expansion> InnerCall(const Call& call, const std::vector<Node*>& controls);
  // Whether a node of a body remains a call until its gradient is taken, because the library
  // declares a gradient function for the called function. Gradients then uses that gradient
  // function.
  bool StaysCall(const pb::NodeDef& def, const AttrMap& attrs) const;
  absl::StatusOr<Node*> AddNode(NodeSpec spec);
  absl::StatusOr<AttrMap> Attributes(const pb::NodeDef& def, const AttrMap& function) const;
  absl::StatusOr<Output> Find(const FunctionBody& body, const BodyTensor& tensor,
                              const std::vector<OutputList>& args,
                              const std::vector<Expansion>& made) const;
  // The tensors of the argument that `tensor` refers to.
  absl::StatusOr<absl::Span<const Output>> ListOf(const FunctionBody& body,
                                                  const BodyTensor& tensor,
                                                  const std::vector<OutputList>& args,
                                                  const std::vector<Expansion>& made) const;
  // Appends the tensor, or all tensors, that `tensor` refers to.
  absl::Status Append(const FunctionBody& body, const BodyTensor& tensor,
                      const std::vector<OutputList>& args, const std::vector<Expansion>& made,
                      OutputList* to);
  absl::StatusOr<std::pair<size_t, size_t>> RangeOf(const std::string& name, const pb::NodeDef& def,
                                                    const Expansion& made) const;
  absl::StatusOr<const FunctionBody*> Read(const std::string& name);

  // The branches of an If or Case. `index` is the index of a Case, or the condition of an If, which
  // chooses the first branch if it is true.
  struct Choice {
    const Call& call;
    const std::vector<FunctionAttr>& branches;
    Output index;
    OutputList args;
    bool has_effects;  // the result of RunForEffect
  };
  // Whether one of the functions has nodes that run for their effect, or has no results.
  bool RunForEffect(const std::vector<FunctionAttr>& functions);
  // Adds a binary tree of conds that selects one of the branches [first, end) by the index, and
  // calls the function of that branch. An index out of range selects the last branch.
  absl::StatusOr<Expansion> Branches(const Choice& choice, size_t first, size_t end);
  absl::StatusOr<Expansion> Branch(const Choice& choice, size_t i);
  // A bool tensor: whether the chosen branch is in [first, middle), if it is in [first, end).
  Output IsBefore(const Choice& choice, size_t first, size_t middle, size_t end);
  // `start`, as a tensor that fails the step if `delta` does not lead from `start` to `limit`.
  absl::StatusOr<Output> CheckedStart(Output start, Output limit, Output delta);
  // Returns `value`, which must be a scalar. Otherwise an INVALID_ARGUMENT error begins with
  // `expected`. It is returned now, or by the step if the rank is not known yet.
  absl::StatusOr<Output> Scalar(Output value, const std::string& expected);
  // Keeps the first error inside a branch or a loop's body, because the callbacks of Cond and
  // WhileLoop cannot return a status.
  OutputList Fail(const absl::Status& status);
  // Returns and forgets the error that Fail kept. If there is none, returns the graph's status.
  absl::Status TakeFailure();
  // The outputs, as tensors that are computed only after Expansion::controls have run.
  OutputList After(const Expansion& expansion) const;
  absl::StatusOr<FunctionRef> FunctionOf(const Call& call, std::string_view attr) const;
  absl::StatusOr<Output> AsBool(Output value);
  // A gradient as a tensor. `declared` is the type of the zeros for a handle of unknown type.
  Output DenseOrZeros(const Grad& grad, const Output& x, DataType declared);
  // A Const that waits for the node of set_entry.
  Output Constant(const Tensor& value);

  Graph& graph_;
  const FunctionLibrary& library_;
  const LowerOptions& options_;
  const int64_t first_id_;  // of the nodes that calls add
  int64_t num_calls_ = 0;
  int64_t num_listed_ = 0;          // tensors that references to whole lists have added
  std::vector<std::string> open_;   // functions that are being expanded
  bool is_differentiated_ = false;  // whether gradients of the expanded nodes will be taken
  std::map<std::string, FunctionBody> bodies_;
  Node* entry_ = nullptr;
  absl::Status failure_;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_FUNCTION_EXPAND_H_
