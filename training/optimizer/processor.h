// A variable processor decides how an optimizer differentiates and updates one kind of variable.
//
// There are processors for variables, for reads of resource variables and for embedding tables. A
// port, the output of a SubmodelPort op, stands for another model: its gradient is computed, but
// nothing is updated. Any other floating-point tensor has a gradient too, but to update it is an
// error. A program may register a processor for the outputs of its own op:
//
//   RegisterVariableProcessor("MyTableRef", [](const Variable& v) -> std::unique_ptr<…> {…});
//   optimizer.Minimize(loss, {.var_list = {VariableOfTensor(table)}});
//
// Thread safety: register processors at start-up, in one thread. One thread at a time may build a
// graph and call the other functions for it.
// Reference: TensorFlow's _OptimizableVariable and _get_processor.
#ifndef SLUICE_TRAINING_OPTIMIZER_PROCESSOR_H_
#define SLUICE_TRAINING_OPTIMIZER_PROCESSOR_H_

#include <functional>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/gradient/gradients.h"
#include "ops/state/variable.h"

namespace sluice {

class Optimizer;

class VariableProcessor {
 public:
  explicit VariableProcessor(const Variable& variable) : variable_(variable) {}
  virtual ~VariableProcessor() = default;

  const Variable& variable() const { return variable_; }
  // Returns the tensor with respect to which the loss is differentiated.
  virtual Output Target() const { return variable_.handle(); }
  // Adds and returns the op that applies `grad`, which is not none. The optimizer calls this in a
  // name scope for this update, and colocates the added nodes with the variable.
  virtual absl::StatusOr<Operation> UpdateOp(Optimizer& optimizer, const Grad& grad) const = 0;

 private:
  Variable variable_;
};

using VariableProcessorFactory = std::function<std::unique_ptr<VariableProcessor>(const Variable&)>;

// Wraps a tensor that is not a variable, so that it can be in the var_list of an optimizer: a port,
// a read of a resource variable, or the output of an op with a registered processor. `tensor` must
// be output 0 of its node. The result is invalid if `tensor` is.
Variable VariableOfTensor(Output tensor);

// Registers `factory` to create the processors for outputs of ops of type `op`. Replaces an earlier
// registration for `op`.
void RegisterVariableProcessor(std::string_view op, VariableProcessorFactory factory);

// Returns the processor of a variable. UNIMPLEMENTED "Trying to optimize unsupported type <name>"
// if there is none. INVALID_ARGUMENT "Got <name> but could not locate source variable." if
// `variable` is the handle or a read of a variable that Variable::Find does not find in the graph.
// INVALID_ARGUMENT if `variable` is invalid.
absl::StatusOr<std::unique_ptr<VariableProcessor>> ProcessorOf(const Variable& variable);

// Calls `update`, which adds the op that updates the variable. If the variable has a constraint
// (ops/state/constraint.h), adds an op that afterwards applies the constraint to the new value and
// assigns the result. Returns the last op, which runs all this. FAILED_PRECONDITION "Cannot use a
// constraint function on a sparse variable." if there is a constraint and `grad` is sparse.
absl::StatusOr<Operation> ThenConstrain(const Variable& variable, const Grad& grad,
                                        const std::function<Operation()>& update);

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_PROCESSOR_H_
