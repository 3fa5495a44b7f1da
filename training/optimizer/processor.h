// A variable processor decides how an optimizer differentiates and updates one kind of variable.
//
// There are processors for variables, reads of resource variables, embedding tables, ports of other
// models, and floating-point tensors, which have gradients but no updates. A program may register
// one for the outputs of its own op:
//
//   RegisterVariableProcessor("MyTableRef", [](const Variable& v) -> std::unique_ptr<…> {…});
//   optimizer.Minimize(loss, {.var_list = {VariableOfTensor(table)}});
//
// Thread safety: registration happens at start-up, in one thread. The rest is as safe as the graph.
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
  // The loss is differentiated with respect to this.
  virtual Output Target() const { return variable_.handle(); }
  // Returns the op that applies `grad`, which is not none. Called in the name scope and colocation
  // of the update.
  virtual absl::StatusOr<Operation> UpdateOp(Optimizer& optimizer, const Grad& grad) const = 0;

 private:
  Variable variable_;
};

using VariableProcessorFactory = std::function<std::unique_ptr<VariableProcessor>(const Variable&)>;

// Wraps a tensor that an optimizer trains although it is not a variable: a port of another graph,
// or a read of a resource variable. `tensor` must be the first output of its node.
Variable VariableOfTensor(Output tensor);

// Makes `factory` create the processors for outputs of ops of type `op`. A later registration for
// the same type replaces it.
void RegisterVariableProcessor(std::string_view op, VariableProcessorFactory factory);

// Returns the processor of a variable. UNIMPLEMENTED "Trying to optimize unsupported type <name>"
// if there is none. INVALID_ARGUMENT "Got <name> but could not locate source variable." for an op
// that creates or reads a variable, if the graph does not know this variable.
absl::StatusOr<std::unique_ptr<VariableProcessor>> ProcessorOf(const Variable& variable);

// Calls `update`, which adds the op that updates the variable. If the variable has a constraint,
// then assigns the constrained value to it. Returns the op that does all this. FAILED_PRECONDITION
// "Cannot use a constraint function on a sparse variable." if there is a constraint and the
// gradient is sparse.
absl::StatusOr<Operation> ThenConstrain(const Variable& variable, const Grad& grad,
                                        const std::function<Operation()>& update);

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_PROCESSOR_H_
