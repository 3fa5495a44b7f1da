// A conditional: each step runs one of two branches.
//
//   Output y = Cond(Less(x, 0.0f), [&] { return -x; }, [&] { return x; })[0];
//
// Ops that a branch adds run only when the branch is taken. Ops that were added before always run,
// even if only one branch uses them: build an op with a side effect inside the branch.
//
// Each value from outside enters a branch through a Switch, and a Merge joins each pair of results.
// Gradients flow through Switches and Merges.
//
// Thread safety: that of the graph, which one thread at a time builds.
// Ownership: the graph owns the contexts of the branches.
// Errors: Graph::status() keeps the first error. Cond then returns an empty list.
// Reference: tf.compat.v1.cond with control flow v1, with the same nodes and names.
#ifndef SLUICE_GRAPH_BUILD_COND_H_
#define SLUICE_GRAPH_BUILD_COND_H_

#include <functional>
#include <string_view>
#include <variant>

#include "graph/build/control_flow_context.h"
#include "graph/ir/graph.h"

namespace sluice {

// The result of a branch: tensors, or an op that runs for its effect. A branch may return any type
// that converts to BranchResult:
//
//   [&] { return a; }                             // one tensor
//   [&] { return OutputList{a, b}; }              // several tensors
//   [&] { return Operation(Assign(w, value)); }   // an op
class BranchResult {
 public:
  BranchResult(Output tensor) : value_(OutputList{tensor}) {}       // NOLINT
  BranchResult(OutputList tensors) : value_(std::move(tensors)) {}  // NOLINT
  BranchResult(std::initializer_list<Output> t) : value_(OutputList(t)) {}
  BranchResult(Operation op) : value_(op) {}  // NOLINT

  // Exactly one of these is not null. The pointer is valid as long as this object.
  const OutputList* tensors() const { return std::get_if<OutputList>(&value_); }
  const Operation* operation() const { return std::get_if<Operation>(&value_); }

 private:
  std::variant<OutputList, Operation> value_;
};

// Adds the nodes of one branch to the graph. Cond calls each Branch once before it returns, and
// does not keep the function.
using Branch = std::function<BranchResult()>;

// Adds both branches. `pred` is a bool scalar.
// Returns one tensor per result of the branches, in their order. For branches that return an
// operation it returns one bool tensor: the value of the predicate, which is available only after
// the operation has run.
// The static shape of a result has the rank and the sizes in which both branches agree.
//
// `name` is made unique and prefixes all names inside. `at` is the user's line, which errors name.
//
// Returns an empty list if `pred` is invalid, or after an error: INVALID_ARGUMENT if the branches'
// results differ in number or types.
OutputList Cond(Output pred, const Branch& if_true, const Branch& if_false,
                std::string_view name = "cond", At at = At::current());

// One branch of a Cond, as the gradient engine and the builder see it. User programs call Cond
// instead.
class CondContext final : public ControlFlowContext {
 public:
  // `outer` is the cond or loop around this branch, or null. `pred` is the predicate of the cond,
  // which the Switches of the branch get. `branch` is 1 for the branch that is taken if `pred` is
  // true, 0 for the other one. `pivot` is a tensor that is alive (not dead) only if this branch is
  // taken.
  CondContext(std::string name, ControlFlowContext* outer, Output pred, Output pivot, int branch);

  Output pred() const { return pred_; }
  Output pivot() const { return pivot_; }
  int branch() const { return branch_; }

  // Returns the tensor by which nodes of the branch read `value`. For a value from outside, this is
  // output `branch()` of a Switch, which is added when the branch first uses the value. Invalid
  // after an error.
  Output AddValue(Output value) override;
  absl::StatusOr<ControlFlowContext*> Enter(NodeSpec& spec) override;
  Node* control_pivot() const override { return pivot_.node; }

 private:
  Output Switched(Output value);

  Output pred_;
  Output pivot_;
  int branch_;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_BUILD_COND_H_
