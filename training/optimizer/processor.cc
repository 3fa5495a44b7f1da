#include "training/optimizer/processor.h"

#include <map>
#include <string>

#include "graph/build/scopes.h"
#include "graph/ir/variable_use.h"
#include "graph/status.h"
#include "ops/embedding/embedding_table.h"
#include "ops/state/constraint.h"
#include "training/optimizer/optimizer.h"
#include "training/optimizer/slot.h"

namespace sluice {
namespace {

// Updates the reference or resource variable `source`. `variable` is the same variable, or a value
// that was read from it.
class VariableUpdate : public VariableProcessor {
 public:
  VariableUpdate(const Variable& variable, const Variable& source)
      : VariableProcessor(variable), source_(source) {}
  absl::StatusOr<Operation> UpdateOp(Optimizer& optimizer, const Grad& grad) const override {
    return ThenConstrain(source_, grad, [&] { return optimizer.ApplyTo(source_, grad); });
  }

 private:
  Variable source_;
};

// Handles a port of a model that is trained elsewhere. The "update" is the gradient itself.
class PortUpdate : public VariableProcessor {
 public:
  using VariableProcessor::VariableProcessor;
  absl::StatusOr<Operation> UpdateOp(Optimizer&, const Grad& grad) const override {
    return Operation(ToDense(grad));
  }
};

// Updates a part of an embedding table.
class TableUpdate : public VariableProcessor {
 public:
  using VariableProcessor::VariableProcessor;
  absl::StatusOr<Operation> UpdateOp(Optimizer& optimizer, const Grad& grad) const override {
    SLUICE_INVALID_IF(!grad.is_slices(), "embedding table '", variable().name(),
                      "': expected a sparse gradient, got a dense one");
    return optimizer.ApplyTo(variable(), grad);
  }
};

// Handles a tensor, which has a gradient but cannot be updated.
class TensorUpdate : public VariableProcessor {
 public:
  using VariableProcessor::VariableProcessor;
  absl::StatusOr<Operation> UpdateOp(Optimizer&, const Grad&) const override {
    return absl::UnimplementedError(
        StrCat("Trying to update a Tensor ", variable().handle().name()));
  }
};

std::map<std::string, VariableProcessorFactory, std::less<>>& Factories() {
  static auto* factories = new std::map<std::string, VariableProcessorFactory, std::less<>>{
      {"SubmodelPort", [](const Variable& v) { return std::make_unique<PortUpdate>(v); }},
      {std::string(kEmbeddingTableOp),
       [](const Variable& v) { return std::make_unique<TableUpdate>(v); }}};
  return *factories;
}

absl::StatusOr<Variable> SourceOf(Operation handle, std::string_view got) {
  absl::StatusOr<Variable> source = Variable::Find(*handle.graph(), handle.name());
  // A tensor that VariableOfTensor registered is not a variable. It is recognized by its value,
  // which is its handle.
  const bool is_variable = source.ok() && source->snapshot() != source->handle();
  if (is_variable) return source;
  return InvalidArgument("Got ", got, " but could not locate source variable.");
}

}  // namespace

Variable VariableOfTensor(Output tensor) {
  if (!tensor) return Variable();
  const std::string key = tensor.name();
  tensor.graph()->variables().emplace(key, VariableNodes{.initializer = key,
                                                         .snapshot = key,
                                                         .initial_value = key,
                                                         .trainable = false,
                                                         .is_resource = false});
  return Variable::Find(*tensor.graph(), key).value_or(Variable());
}

void RegisterVariableProcessor(std::string_view op, VariableProcessorFactory factory) {
  Factories()[std::string(op)] = std::move(factory);
}

absl::StatusOr<std::unique_ptr<VariableProcessor>> ProcessorOf(const Variable& variable) {
  SLUICE_INVALID_IF(!variable, "a variable to optimize is not valid");
  const Node& node = *variable.op().node;
  const std::string name = variable.handle().name();
  if (auto made = Factories().find(node.op()); made != Factories().end()) {
    return made->second(variable);
  }
  if (CreatesVariable(node)) {
    SLUICE_ASSIGN_OR_RETURN(const Variable source, SourceOf(variable.op(), name));
    return std::make_unique<VariableUpdate>(source, source);
  }
  if (node.traits().variable_use == VariableUse::kReadsValue) {
    SLUICE_ASSIGN_OR_RETURN(const Variable source, SourceOf(node.input(0), name));
    return std::make_unique<VariableUpdate>(variable, source);
  }
  if (IsFloating(BaseType(variable.handle().dtype()))) {
    return std::make_unique<TensorUpdate>(variable);
  }
  return absl::UnimplementedError(StrCat("Trying to optimize unsupported type ", name));
}

absl::StatusOr<Operation> ThenConstrain(const Variable& variable, const Grad& grad,
                                        const std::function<Operation()>& update) {
  const Constraint constraint = ConstraintOf(variable);
  if (!constraint) return update();
  if (grad.is_slices()) {
    return absl::FailedPreconditionError("Cannot use a constraint function on a sparse variable.");
  }
  Graph& graph = variable.graph();
  ControlDependencies after(graph, {update()});
  return WithValueRead(variable, variable.Assign(constraint(variable.Read())));
}

}  // namespace sluice
