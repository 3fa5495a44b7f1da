// How an optimizer treats each kind of thing that it trains.
//
// Variables, resource variables and single reads of resource variables are known. A kind of one's
// own is a processor registered for the type of its op:
//
//   RegisterVariableProcessor("MyTableRef", [](const Variable& v) -> std::unique_ptr<…> {…});
//   optimizer.Minimize(loss, {.var_list = {VariableOfTensor(table)}});
//
// Reference behaviour: TensorFlow's _OptimizableVariable and _get_processor.
//
// Thread safety: registration at start-up, from one thread; the rest as of the graph.
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
  // What the loss is differentiated by.
  virtual Output Target() const { return variable_.handle(); }
  // The op that applies `grad`, which is not none; under the name scope and colocation of the
  // update.
  virtual absl::StatusOr<Operation> UpdateOp(Optimizer& optimizer, const Grad& grad) const = 0;

 private:
  Variable variable_;
};

using VariableProcessorFactory = std::function<std::unique_ptr<VariableProcessor>(const Variable&)>;

// A tensor that is trained though it is no variable (a port of another graph, one read of a
// resource variable), the first output of its node, as what an optimizer takes.
Variable VariableOfTensor(Output tensor);

// For what is the output of an op of type `op`. The last registration counts.
void RegisterVariableProcessor(std::string_view op, VariableProcessorFactory factory);

// UNIMPLEMENTED "Trying to optimize unsupported type <name>"; INVALID_ARGUMENT "Got <name> but
// could not locate source variable." for a handle that no Variable was made for.
absl::StatusOr<std::unique_ptr<VariableProcessor>> ProcessorOf(const Variable& variable);

// `update`, followed by the assignment of the constrained value where the variable has a
// constraint. FAILED_PRECONDITION "Cannot use a constraint function on a sparse variable."
absl::StatusOr<Operation> ThenConstrain(const Variable& variable, const Grad& grad,
                                        const std::function<Operation()>& update);

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_PROCESSOR_H_
