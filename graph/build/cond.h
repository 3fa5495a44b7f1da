// A conditional: each step runs one of two branches.
//
//   Output y = Cond(Less(x, 0.0f), [&] { return -x; }, [&] { return x; })[0];
//
// Ops that a branch adds run only when the branch is taken; ops that were added before always run.
// Each value from outside enters through a Switch; each pair of results meets in a Merge.
//
// Thread safety: as the graph's. Errors stay in the graph. Reference: tf.compat.v1.cond, with the
// same nodes and names.
#ifndef SLUICE_GRAPH_BUILD_COND_H_
#define SLUICE_GRAPH_BUILD_COND_H_

#include <functional>
#include <string_view>
#include <variant>

#include "graph/build/control_flow_context.h"
#include "graph/ir/graph.h"

namespace sluice {

// The result of a branch: tensors, or an op that runs for its effect.
class BranchResult {
 public:
  BranchResult(Output tensor) : value_(OutputList{tensor}) {}       // NOLINT
  BranchResult(OutputList tensors) : value_(std::move(tensors)) {}  // NOLINT
  BranchResult(std::initializer_list<Output> t) : value_(OutputList(t)) {}
  BranchResult(Operation op) : value_(op) {}  // NOLINT

  const OutputList* tensors() const { return std::get_if<OutputList>(&value_); }
  const Operation* operation() const { return std::get_if<Operation>(&value_); }

 private:
  std::variant<OutputList, Operation> value_;
};
using Branch = std::function<BranchResult()>;

// One tensor for each result of the branches. For an operation it is the value of the predicate
// once the operation has run. Empty after an error: INVALID_ARGUMENT if the branches' results
// differ in number or types.
OutputList Cond(Output pred, const Branch& if_true, const Branch& if_false,
                std::string_view name = "cond", At at = At::current());

// One branch of a Cond, as the gradient engine and the builder see it.
class CondContext final : public ControlFlowContext {
 public:
  // `pred` controls the switches; `pivot` is alive if the branch (1 = true, 0 = false) is taken.
  CondContext(std::string name, ControlFlowContext* outer, Output pred, Output pivot, int branch);

  Output pred() const { return pred_; }
  Output pivot() const { return pivot_; }
  int branch() const { return branch_; }

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
