// An optimizer adds the nodes that minimize a loss by updating variables.
//
//   Operation train = Adam({.learning_rate = 1e-3f}).Minimize(loss, {.global_step = &step});
//
// Minimize calls ComputeGradients, then ApplyGradients. A program that changes the gradients before
// they are applied calls these two instead. A class whose update is one op derives from
// RuleOptimizer (rule_optimizer.h). A slot is a variable that an optimizer keeps for each trained
// variable, such as Momentum's moving average.
//
// Thread safety: none. Ownership: slots belong to the graph. The optimizer may be destroyed once it
// has added its nodes.
// Reference: tf.compat.v1.train.Optimizer. Nodes, names, slots and errors are the same.
#ifndef SLUICE_TRAINING_OPTIMIZER_OPTIMIZER_H_
#define SLUICE_TRAINING_OPTIMIZER_OPTIMIZER_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "graph/gradient/gradients.h"
#include "graph/ir/graph.h"
#include "ops/state/variable.h"
#include "training/optimizer/hyper_parameter.h"
#include "training/optimizer/processor.h"
#include "training/strategy/strategy.h"

namespace sluice {

// A variable and the gradient with respect to it. `grad` is none if the loss does not depend on the
// variable.
struct GradientAndVariable {
  Grad grad;
  Variable var;
};
using GradientsAndVariables = std::vector<GradientAndVariable>;

// When updates may use a gradient: as soon as it is computed (kNone), when the gradients with
// respect to all inputs of the same op are computed (kOp), or when all gradients are computed
// (kGraph).
enum class Gate { kNone = 0, kOp = 1, kGraph = 2 };

struct ComputeGradientsOptions {
  std::vector<Variable> var_list;  // empty: all trainable variables of the graph
  Gate gate = Gate::kOp;
  AggregationMethod aggregation = AggregationMethod::kAddN;
  bool colocate_gradients_with_ops = false;
  Output grad_loss;  // the gradient with respect to the loss. An invalid output stands for ones
};

struct ApplyGradientsOptions {
  const Variable* global_step = nullptr;  // incremented after all updates; null: no counter
  std::string name;                       // the op's name; "": the optimizer's name
};

// The options of ComputeGradients and ApplyGradients, and `strict`.
struct MinimizeOptions {
  const Variable* global_step = nullptr;
  std::vector<Variable> var_list;
  Gate gate = Gate::kOp;
  AggregationMethod aggregation = AggregationMethod::kAddN;
  bool colocate_gradients_with_ops = false;
  std::string name;
  Output grad_loss;
  // Whether it is an error if the loss does not depend on one of the variables. Otherwise Minimize
  // prints a warning to stderr.
  bool strict = false;
};

class Optimizer {
 public:
  // `use_locking` is the attribute of the ops that update variables. If the name is empty,
  // ComputeGradients and ApplyGradients return INVALID_ARGUMENT with TensorFlow's text.
  Optimizer(std::string name, bool use_locking);
  virtual ~Optimizer() = default;

  const std::string& name() const { return name_; }
  bool use_locking() const { return use_locking_; }

  // Returns one pair per variable, in the order of var_list. One pair per port follows: a port is a
  // tensor in the collection "streaming_model_ports" that another model computes. If the current
  // strategy minimizes the mean of the replicas' losses, scales the loss by 1 / num_replicas().
  // INVALID_ARGUMENT if there are no variables, if the loss, grad_loss or a variable has a type
  // that is not in ValidDtypes(), or if the gate is unknown. Also returns the errors of ProcessorOf
  // and Gradients.
  virtual absl::StatusOr<GradientsAndVariables> ComputeGradients(
      Output loss, const ComputeGradientsOptions& options = {});
  // Returns an op that applies all gradients and then increments the global step. Adds the name of
  // this op to the collection "train_op". In a replica context (training/strategy/strategy.h) this
  // call waits for all replicas, and the op applies the sum of their gradients.
  // INVALID_ARGUMENT if all gradients are none. FAILED_PRECONDITION in a cross-replica context, or
  // if a variable with a constraint has a sparse gradient.
  virtual absl::StatusOr<Operation> ApplyGradients(const GradientsAndVariables& grads_and_vars,
                                                   const ApplyGradientsOptions& options = {});
  // Calls ComputeGradients and ApplyGradients, and returns the op of the latter. An error stays in
  // the graph (Graph::status), and the returned operation is invalid.
  Operation Minimize(Output loss, const MinimizeOptions& options = {});

  // Adds and returns the op that updates `var` by `grad`, which must not be none. Variable
  // processors (processor.h) call this.
  Operation ApplyTo(const Variable& var, const Grad& grad);

  // Returns the slot of `var` called `slot_name`, for example "momentum". nullopt if there is none.
  virtual std::optional<Variable> GetSlot(const Variable& var, std::string_view slot_name) const;
  virtual std::vector<std::string> GetSlotNames() const;  // sorted
  // Returns the slots and the other variables of the optimizer, such as Adam's beta1_power, sorted
  // by name.
  virtual std::vector<Variable> Variables() const;

 protected:
  // Constructors call this if an option is not valid. ComputeGradients and ApplyGradients return
  // the first of these errors.
  void SetInvalid(absl::Status status) { invalid_.Update(status); }
  const absl::Status& invalid() const { return invalid_; }

  // Creates the slots of `vars`, the variables with a gradient. ApplyGradients calls it outside of
  // conds, while loops and control dependencies, before it opens the name scope of the update.
  virtual void CreateSlots(const std::vector<Variable>& vars) { (void)vars; }
  // Creates the tensors of the hyper-parameters. ApplyGradients calls it after CreateSlots, in the
  // name scope of the update.
  virtual void Prepare(Graph& graph) { (void)graph; }
  // Adds and returns the op that updates all elements of `var`. `grad` has the shape of `var`.
  virtual Operation ApplyDense(Output grad, const Variable& var) = 0;
  // Adds and returns the op that updates the rows of `var` for which `grad` has gradients. The
  // indices of `grad` are distinct.
  virtual Operation ApplySparse(const IndexedSlices& grad, const Variable& var) = 0;
  // Like ApplySparse, but the indices of `grad` may repeat. By default, sums the rows of equal
  // indices and calls ApplySparse.
  virtual Operation ApplySparseDuplicateIndices(const IndexedSlices& grad, const Variable& var);
  // Adds and returns the op that updates rows of an embedding table
  // (ops/embedding/embedding_table.h). The indices of `grad` are keys of the table and may repeat.
  // By default, sets the error UNIMPLEMENTED in the graph and returns an invalid operation.
  virtual Operation ApplyToTable(const IndexedSlices& grad, const Variable& table);
  // Returns the value of ApplyGradientsOptions::global_step as an int64 scalar, or the constant -1
  // if there is no global step. For implementations of ApplyToTable.
  Output StepOfUpdate(Graph& graph);
  // Adds one op, called `name`, that runs all updates. `name` may be the prefix of a name scope,
  // such as "Adam/". The op is then called "Adam".
  virtual Operation Finish(Graph& graph, const std::vector<Operation>& updates,
                           std::string_view name);
  virtual std::vector<DataType> ValidDtypes() const {
    return {DT_HALF, DT_BFLOAT16, DT_FLOAT, DT_DOUBLE};
  }

  // Returns the slot `slot_name` of `var`. If there is none yet, calls `make`, which creates the
  // slot with a function of slot.h. Those functions call the variable "<name of var>/<name>", where
  // <name> is the argument of `make`: `op_name`, or TensorFlow's name for the slot of a replica.
  using SlotMaker = absl::FunctionRef<Variable(std::string_view name)>;
  Variable FindOrMakeSlot(const Variable& var, std::string_view slot_name, std::string_view op_name,
                          SlotMaker make);
  Variable ZerosSlot(const Variable& var, std::string_view slot_name, std::string_view op_name);
  // Like GetSlot, but returns an invalid Variable if there is none.
  Variable Slot(const Variable& var, std::string_view slot_name) const;
  // Returns a float scalar variable that belongs to no trained variable, such as Adam's
  // beta1_power. There is one per graph and name. If there is none yet, creates it with
  // `initial_value`, colocated with `with`.
  Variable NonSlotVariable(const HyperParameter& initial_value, std::string_view name,
                           const Variable& with);
  std::optional<Variable> GetNonSlotVariable(std::string_view name, const Graph& graph) const;

 private:
  using UpdateAll = absl::FunctionRef<absl::StatusOr<std::vector<Operation>>()>;
  using Increment =
      absl::FunctionRef<absl::StatusOr<Operation>(const Variable& step, std::string_view name)>;
  absl::Status CheckDtype(Output tensor) const;
  absl::Status CheckOptions(const ComputeGradientsOptions& options) const;
  absl::StatusOr<GradientsAndVariables> Differentiate(Output loss,
                                                      const ComputeGradientsOptions& options);
  absl::StatusOr<Operation> BuildTrainOp(Graph& graph, const std::vector<Variable>& vars,
                                         const ApplyGradientsOptions& options, UpdateAll update_all,
                                         Increment increment);
  absl::StatusOr<Operation> UpdateOne(const Variable& var, const Grad& grad);
  absl::StatusOr<Operation> MergeReplicas(const GradientsAndVariables& grads_and_vars,
                                          const ApplyGradientsOptions& options);
  absl::StatusOr<Operation> ApplyDistributed(Strategy& strategy,
                                             const std::vector<GradientsAndVariables>& replicas,
                                             const ApplyGradientsOptions& options);
  absl::StatusOr<Operation> Record(Graph& graph, Operation train) const;

  std::string name_;
  bool use_locking_;
  absl::Status invalid_;
  using VariableKey = std::pair<const Graph*, std::string>;  // a graph, and a name in it
  std::map<std::string, std::map<VariableKey, Variable>, std::less<>> slots_;  // by slot name
  std::map<VariableKey, Variable> non_slots_;
  // The next two members are valid while ApplyGradients adds nodes. StepOfUpdate computes
  // step_of_update_ from global_step_.
  const Variable* global_step_ = nullptr;
  Output step_of_update_;
};

// Returns `value` cast to type `dtype`. Adds no node if `value` has that type already.
Output CastTo(Output value, DataType dtype);
// Returns the tensor of a dense gradient, or the rows of a sparse one. Invalid if `grad` is none.
Output ValuesOf(const Grad& grad);
// Returns `grad` with its tensor or rows (see ValuesOf) replaced by `values`.
Grad WithValues(const Grad& grad, Output values);
// Returns a gradient with distinct indices and the same dense_shape. The rows of `grad` that have
// equal indices are summed.
IndexedSlices SumDuplicateIndices(const IndexedSlices& grad);

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_OPTIMIZER_H_
