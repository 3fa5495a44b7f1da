// The base class of all optimizers that update a variable by one op, such as ApplyAdam. An update
// rule (ops/update/rules.h) declares the slots and the scalar inputs of this op.
//
//   Adadelta::Adadelta(const AdadeltaOptions& options)
//       : RuleOptimizer(kAdadelta, options, {{"accum"}, {"accum_update"}},
//                       {{"lr", options.learning_rate}, {"rho", options.rho},
//                        {"epsilon", options.epsilon}}) {}
//
// Slots and scalars are named as in the rule, which decides their order and type. The base class
// makes the slots and constants, chooses the form of the op (reference or resource variable, dense
// or sparse gradient) and builds its node. Nodes and names are those of TensorFlow's optimizers.
// Errors stay in the graph: INTERNAL if a slot or scalar of the rule has no value.
#ifndef SLUICE_TRAINING_OPTIMIZER_RULE_OPTIMIZER_H_
#define SLUICE_TRAINING_OPTIMIZER_RULE_OPTIMIZER_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/gradient/gradients.h"
#include "ops/builders/operand.h"
#include "ops/state/variable.h"
#include "ops/update/rules.h"
#include "training/optimizer/hyper_parameter.h"
#include "training/optimizer/optimizer.h"

namespace sluice {

// The value of a scalar input of the update op: a tensor, or a variable that the op itself reads.
struct ScalarValue {
  ScalarValue() = default;
  // Callers pass a tensor or a variable, so these conversions are implicit.
  ScalarValue(Output tensor) : tensor(tensor) {}                                       // NOLINT
  ScalarValue(Variable variable) : variable(variable) {}                               // NOLINT
  operator Operand() const { return variable ? Operand(variable) : Operand(tensor); }  // NOLINT

  Output tensor;
  Variable variable;
};

// A slot of a RuleOptimizer. The names must be literals, because they are not copied.
struct RuleSlot {
  std::string_view slot;         // its name in the rule
  std::string_view name = "";    // its name for GetSlot; "" = its name in the rule
  Initializer initializer = {};  // none: zeros
  // If set, a constant with this value is added to the graph before the slot and initialises it.
  std::optional<double> constant = {};
  std::string variable_name = "";  // "<var>/<variable_name>"; "" = the optimizer's name
  // The initial value of the slot's elements in an embedding table. Needed if `initializer` does
  // not create a single constant.
  std::optional<double> table_value = {};
};

// The value of a scalar input of the rule's op, as the optimizer's options give it.
struct RuleScalar {
  std::string_view scalar;  // its name in the rule
  HyperParameter value;
  std::string_view name = "";  // name of the Const node of a number; "" = the name in the rule
};

class RuleOptimizer : public Optimizer {
 protected:
  template <typename Options>
  RuleOptimizer(const UpdateRule& rule, const Options& options, std::vector<RuleSlot> slots,
                std::vector<RuleScalar> scalars)
      : Optimizer(options.name, options.use_locking),
        rule_(&rule),
        slots_(std::move(slots)),
        scalars_(std::move(scalars)) {}

  // Sets the boolean attribute that the rule calls its flag, such as use_nesterov. Without a call,
  // the attribute has its default.
  void SetFlag(bool flag) { flag_ = flag; }
  // Adds a scalar to those of the constructor. It need not be a scalar of the rule: a derived class
  // can read it by scalar().
  void AddScalar(RuleScalar scalar) { scalars_.push_back(std::move(scalar)); }
  // Sets the error INVALID_ARGUMENT (Optimizer::SetInvalid) unless the value is positive.
  void CheckPositive(std::string_view option, double value);

  // CreateSlots and Prepare add nodes in the order of the constructor's arguments.
  void CreateSlots(const std::vector<Variable>& vars) override;
  void Prepare(Graph& graph) override;
  Operation ApplyDense(Output grad, const Variable& var) override { return ApplyRule(grad, var); }
  Operation ApplySparse(const IndexedSlices& grad, const Variable& var) override {
    return ApplyRule(grad, var);
  }

  // Sums the rows of equal keys, then applies the rule's op for embedding tables.
  Operation ApplyToTable(const IndexedSlices& grad, const Variable& table) override;

  // Sets the value of a scalar. Overrides of Prepare call it.
  void SetScalar(std::string_view scalar, ScalarValue value) { values_[scalar] = value; }
  // `scalar` returns the value of a scalar after Prepare. `Typed` returns it with the type of
  // `var`; if it has another type, each call adds a Cast.
  ScalarValue scalar(std::string_view scalar) const;
  ScalarValue Typed(std::string_view scalar, const Variable& var) const;

  // Adds the rule's op that updates `var` by `grad`. The op gets the scalars ScalarsFor(var).
  Operation ApplyRule(const Grad& grad, const Variable& var);
  using Scalars = std::map<std::string_view, ScalarValue>;
  // Returns the scalars for an update of `var`, by their names in the rule. By default: all scalars
  // of the rule, with the type of `var`.
  virtual Scalars ScalarsFor(const Variable& var) const;

 private:
  Variable RuleSlotOf(const Variable& var, std::string_view slot) const;
  void AddTableSlots(const Variable& table);
  // Calls add(input, value) for those inputs of `op` that follow the variable and its slots.
  void ForEachInput(Graph& graph, const std::string& op, const Scalars& scalars,
                    absl::FunctionRef<void(const UpdateInput& input, Output value)> add) const;

  const UpdateRule* rule_;
  std::vector<RuleSlot> slots_;
  std::vector<RuleScalar> scalars_;
  std::optional<bool> flag_;
  Scalars values_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_RULE_OPTIMIZER_H_
