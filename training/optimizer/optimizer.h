// Optimizers: from a loss to the nodes that update variables.
//
//   Operation train = Adam({.learning_rate = 1e-3f}).Minimize(loss, {.global_step = &step});
//
// Minimize = ComputeGradients + ApplyGradients; call the two to change gradients in between.
// Reference behaviour: tf.compat.v1.train.Optimizer: the same nodes, names, slots and errors.
//
// Thread safety: none; an optimizer belongs to the graph being built. Ownership: slots live in the
// graph; the optimizer may be destroyed once its nodes are made.
#ifndef SLUICE_TRAINING_OPTIMIZER_OPTIMIZER_H_
#define SLUICE_TRAINING_OPTIMIZER_OPTIMIZER_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/gradient/gradients.h"
#include "graph/ir/graph.h"
#include "ops/state/variable.h"
#include "training/optimizer/hyper_parameter.h"
#include "training/optimizer/processor.h"
#include "training/strategy/strategy.h"

namespace sluice {

// What compute_gradients gives and apply_gradients takes; the gradient may be none.
struct GradientAndVariable {
  Grad grad;
  Variable var;
};
using GradientsAndVariables = std::vector<GradientAndVariable>;

// When gradients may be used: each as soon as it is there; those of one op together; all together.
enum class Gate { kNone = 0, kOp = 1, kGraph = 2 };

struct ComputeGradientsOptions {
  std::vector<Variable> var_list;  // empty: all trainable variables of the graph
  Gate gate = Gate::kOp;
  AggregationMethod aggregation = AggregationMethod::kAddN;
  bool colocate_gradients_with_ops = false;
  Output grad_loss;  // gradient of the loss itself; invalid = 1
};

struct ApplyGradientsOptions {
  const Variable* global_step = nullptr;  // incremented after all updates
  std::string name;                       // "" = the optimizer's
};

struct MinimizeOptions {
  const Variable* global_step = nullptr;
  std::vector<Variable> var_list;
  Gate gate = Gate::kOp;
  AggregationMethod aggregation = AggregationMethod::kAddN;
  bool colocate_gradients_with_ops = false;
  std::string name;
  Output grad_loss;
  // A variable that the loss does not reach is an error, not a warning on stderr.
  bool strict = false;
};

class Optimizer {
 public:
  // INVALID_ARGUMENT with TensorFlow's sentence, from every call, when the name is empty.
  Optimizer(std::string name, bool use_locking);
  virtual ~Optimizer() = default;

  const std::string& name() const { return name_; }
  bool use_locking() const { return use_locking_; }

  // One pair a variable, in the order of var_list, then the graph's ports (collection
  // "streaming_model_ports"). In a replica context whose strategy minimizes the mean of the
  // replicas' losses, the loss is scaled by 1 / replicas.
  // INVALID_ARGUMENT: no variables; a loss, grad_loss or variable of a type that is not valid; an
  // unknown gate. UNIMPLEMENTED: what no processor is for (ProcessorOf). Errors of Gradients.
  virtual absl::StatusOr<GradientsAndVariables> ComputeGradients(
      Output loss, const ComputeGradientsOptions& options = {});
  // The op that applies them all (and then increments the global step); it is added to the
  // collection "train_op". In a replica context the replicas meet here, and the sum of their
  // gradients is applied.
  // INVALID_ARGUMENT: nothing to apply. FAILED_PRECONDITION: in a cross-replica context; a sparse
  // gradient of a variable with a constraint.
  virtual absl::StatusOr<Operation> ApplyGradients(const GradientsAndVariables& grads_and_vars,
                                                   const ApplyGradientsOptions& options = {});
  // An error stays in the graph (Graph::status) and gives an invalid operation.
  Operation Minimize(Output loss, const MinimizeOptions& options = {});

  // The update of one variable by one gradient, which is not none: what a processor calls.
  Operation ApplyTo(const Variable& var, const Grad& grad);

  // The slot of `var`, e.g. "momentum"; nullopt when there is none.
  virtual std::optional<Variable> GetSlot(const Variable& var, std::string_view slot_name) const;
  virtual std::vector<std::string> GetSlotNames() const;  // sorted
  // Slots and bookkeeping variables, by name.
  virtual std::vector<Variable> Variables() const;

 protected:
  // A mistake in the options that the constructor was given; the first one is kept and comes back
  // from ComputeGradients and ApplyGradients.
  void SetInvalid(absl::Status status) { invalid_.Update(status); }
  const absl::Status& invalid() const { return invalid_; }

  // Makes the slots of all variables with a gradient, outside of all cond and while contexts,
  // before any scope of the update is opened.
  virtual void CreateSlots(const std::vector<Variable>& vars) { (void)vars; }
  // Makes the tensors of the hyper-parameters, under the scope of the update.
  virtual void Prepare(Graph& graph) { (void)graph; }
  virtual Operation ApplyDense(Output grad, const Variable& var) = 0;
  // Rows of `grad` are distinct.
  virtual Operation ApplySparse(const IndexedSlices& grad, const Variable& var) = 0;
  // Rows may repeat; by default they are summed first (ApplySparse).
  virtual Operation ApplySparseDuplicateIndices(const IndexedSlices& grad, const Variable& var);
  // Joins the updates under `name` ("Adam/": the scope itself).
  virtual Operation Finish(Graph& graph, const std::vector<Operation>& updates,
                           std::string_view name);
  virtual std::vector<DataType> ValidDtypes() const {
    return {DT_HALF, DT_BFLOAT16, DT_FLOAT, DT_DOUBLE};
  }

  // Slot variables, colocated with `var` and named "<var>/<op_name>"; found again if they are
  // there. Of the variable's shape and type; of an initializer's; of a tensor's.
  Variable ZerosSlot(const Variable& var, std::string_view slot_name, std::string_view op_name);
  Variable SlotWithInitializer(const Variable& var, const Initializer& initializer,
                               std::string_view slot_name, std::string_view op_name);
  Variable SlotWithValue(const Variable& var, Output value, std::string_view slot_name,
                         std::string_view op_name);
  // A slot that GetSlot is known to find.
  Variable Slot(const Variable& var, std::string_view slot_name) const;
  // A float variable of the optimizer's own (Adam's beta powers), one a graph, colocated with
  // `with`.
  Variable NonSlotVariable(const HyperParameter& initial_value, std::string_view name,
                           const Variable& with);
  std::optional<Variable> GetNonSlotVariable(std::string_view name, const Graph& graph) const;
  // A hyper-parameter tensor as `var`'s type.
  Output CastTo(Output value, const Variable& var) const;

 private:
  struct Update {
    Grad grad;
    std::shared_ptr<VariableProcessor> processor;
  };
  absl::Status CheckDtype(Output tensor) const;
  absl::Status CheckOptions(const ComputeGradientsOptions& options) const;
  absl::StatusOr<GradientsAndVariables> Differentiate(Output loss,
                                                      const ComputeGradientsOptions& options);
  absl::StatusOr<Operation> ApplyUpdates(Graph& graph, const std::vector<Update>& updates,
                                         const ApplyGradientsOptions& options);
  absl::StatusOr<Operation> MergeReplicas(const GradientsAndVariables& grads_and_vars,
                                          const ApplyGradientsOptions& options);
  absl::StatusOr<Operation> ApplyDistributed(Strategy& strategy,
                                             const std::vector<GradientsAndVariables>& replicas,
                                             const ApplyGradientsOptions& options);
  absl::StatusOr<Operation> Record(Graph& graph, Operation train) const;
  template <typename Make>
  Variable FindOrMakeSlot(const Variable& var, std::string_view slot_name, std::string_view op_name,
                          const Make& make);
  static std::string UnreachedMessage(const GradientsAndVariables& pairs, Output loss);

  std::string name_;
  bool use_locking_;
  absl::Status invalid_;
  using VariableKey = std::pair<const Graph*, std::string>;  // name within its graph
  std::map<std::string, std::map<VariableKey, Variable>, std::less<>> slots_;  // by slot name
  std::map<VariableKey, Variable> non_slots_;
};

// Rows of equal index summed: (unique indices, sums). dense_shape is kept.
IndexedSlices SumDuplicateIndices(const IndexedSlices& grad);

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_OPTIMIZER_H_
