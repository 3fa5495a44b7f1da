// An optimizer adds the nodes that minimize a loss by updating variables.
//
//   Operation train = Adam({.learning_rate = 1e-3f}).Minimize(loss, {.global_step = &step});
//
// Minimize calls ComputeGradients and ApplyGradients. Call these two to change gradients in
// between. Optimizers with an op for their update derive from RuleOptimizer (rule_optimizer.h).
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

// A variable and its gradient. `grad` is none if the loss does not depend on the variable.
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
  Output grad_loss;  // the gradient of the loss itself; invalid: ones
};

struct ApplyGradientsOptions {
  const Variable* global_step = nullptr;  // incremented after all updates
  std::string name;                       // "": the optimizer's name
};

struct MinimizeOptions {
  const Variable* global_step = nullptr;
  std::vector<Variable> var_list;
  Gate gate = Gate::kOp;
  AggregationMethod aggregation = AggregationMethod::kAddN;
  bool colocate_gradients_with_ops = false;
  std::string name;
  Output grad_loss;
  // A variable that does not influence the loss is an error instead of a warning on stderr.
  bool strict = false;
};

class Optimizer {
 public:
  // If the name is empty, all calls return INVALID_ARGUMENT with TensorFlow's text.
  Optimizer(std::string name, bool use_locking);
  virtual ~Optimizer() = default;

  const std::string& name() const { return name_; }
  bool use_locking() const { return use_locking_; }

  // Returns one pair per variable, in the order of var_list, then one per port of another model
  // (the collection "streaming_model_ports"). In a replica context whose strategy minimizes the
  // mean of the replicas' losses, the loss is scaled by 1 / replicas.
  // INVALID_ARGUMENT if there are no variables, if the loss, grad_loss or a variable has a type
  // that is not valid, or if the gate is unknown. UNIMPLEMENTED if a variable has no processor
  // (ProcessorOf). Also returns the errors of Gradients.
  virtual absl::StatusOr<GradientsAndVariables> ComputeGradients(
      Output loss, const ComputeGradientsOptions& options = {});
  // Returns the op that applies all gradients and then increments the global step, and adds it to
  // the collection "train_op". In a replica context this call waits for all replicas and applies
  // the sum of their gradients.
  // INVALID_ARGUMENT if there is nothing to apply. FAILED_PRECONDITION in a cross-replica context,
  // or if a variable with a constraint has a sparse gradient.
  virtual absl::StatusOr<Operation> ApplyGradients(const GradientsAndVariables& grads_and_vars,
                                                   const ApplyGradientsOptions& options = {});
  // An error stays in the graph (Graph::status), and the operation is invalid.
  Operation Minimize(Output loss, const MinimizeOptions& options = {});

  // Adds the op that updates `var` by `grad`, which is not none. Variable processors call this.
  Operation ApplyTo(const Variable& var, const Grad& grad);

  // The slot of `var`, for example "momentum"; nullopt if there is none.
  virtual std::optional<Variable> GetSlot(const Variable& var, std::string_view slot_name) const;
  virtual std::vector<std::string> GetSlotNames() const;  // sorted
  // Slots and other variables of the optimizer, such as beta1_power. Sorted by name.
  virtual std::vector<Variable> Variables() const;

 protected:
  // Reports an error in the constructor's options. ComputeGradients and ApplyGradients return the
  // first one.
  void SetInvalid(absl::Status status) { invalid_.Update(status); }
  const absl::Status& invalid() const { return invalid_; }

  // Creates the slots of all variables with a gradient. Called outside of cond and while contexts,
  // before the name scope of the update is opened.
  virtual void CreateSlots(const std::vector<Variable>& vars) { (void)vars; }
  // Creates the tensors of the hyper-parameters, in the scope of the update.
  virtual void Prepare(Graph& graph) { (void)graph; }
  virtual Operation ApplyDense(Output grad, const Variable& var) = 0;
  // The indices of `grad` are distinct.
  virtual Operation ApplySparse(const IndexedSlices& grad, const Variable& var) = 0;
  // Indices may repeat. By default, sums the rows of equal indices and calls ApplySparse.
  virtual Operation ApplySparseDuplicateIndices(const IndexedSlices& grad, const Variable& var);
  // The indices of `grad` are keys of an embedding table. Keys may repeat. By default, sets the
  // error UNIMPLEMENTED in the graph.
  virtual Operation ApplyToTable(const IndexedSlices& grad, const Variable& table);
  // The global step of the update, as an int64 scalar. -1 if the caller of ApplyGradients named no
  // global step. For ApplyToTable.
  Output StepOfUpdate(Graph& graph);
  // Adds one op that runs all updates, called `name`. If `name` ends with a slash ("Adam/"), the op
  // has the name of this scope ("Adam").
  virtual Operation Finish(Graph& graph, const std::vector<Operation>& updates,
                           std::string_view name);
  virtual std::vector<DataType> ValidDtypes() const {
    return {DT_HALF, DT_BFLOAT16, DT_FLOAT, DT_DOUBLE};
  }

  // Returns the slot variable `slot_name` of `var`, colocated with `var` and named
  // "<var>/<op_name>". If there is none, calls `make` with the name to use. `make` creates the slot
  // by a function of slot.h.
  using SlotMaker = absl::FunctionRef<Variable(std::string_view name)>;
  Variable FindOrMakeSlot(const Variable& var, std::string_view slot_name, std::string_view op_name,
                          SlotMaker make);
  Variable ZerosSlot(const Variable& var, std::string_view slot_name, std::string_view op_name);
  // Like GetSlot, but invalid if there is none.
  Variable Slot(const Variable& var, std::string_view slot_name) const;
  // A float variable of the optimizer itself (Adam's beta powers), one per graph, colocated with
  // `with`.
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
  using VariableKey = std::pair<const Graph*, std::string>;  // name within its graph
  std::map<std::string, std::map<VariableKey, Variable>, std::less<>> slots_;  // by slot name
  std::map<VariableKey, Variable> non_slots_;
  // Valid while ApplyGradients adds nodes.
  const Variable* global_step_ = nullptr;
  Output step_of_update_;
};

// `value` with type `dtype`; adds no node if it has that type.
Output CastTo(Output value, DataType dtype);
// The tensor of a dense gradient, or the rows of a sparse one; invalid for none.
Output ValuesOf(const Grad& grad);
// Returns the gradient with its values replaced.
Grad WithValues(const Grad& grad, Output values);
// Sums the rows of each index. The result has distinct indices and the same dense_shape.
IndexedSlices SumDuplicateIndices(const IndexedSlices& grad);

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_OPTIMIZER_H_
