// A HyperParameter is the value of an optimizer's option, such as the learning rate. It is a
// constant, a tensor (for example a schedule or a placeholder), a variable, or a function that
// creates the tensor when the optimizer adds its update.
#ifndef SLUICE_TRAINING_OPTIMIZER_HYPER_PARAMETER_H_
#define SLUICE_TRAINING_OPTIMIZER_HYPER_PARAMETER_H_

#include <functional>
#include <optional>
#include <string_view>
#include <variant>

#include "ops/state/variable.h"

namespace sluice {

class HyperParameter {
 public:
  using Function = std::function<Output(Graph&)>;

  // Callers pass a number, a tensor, a variable or a function, so these conversions are implicit.
  HyperParameter(float value) : source_(value) {}                       // NOLINT
  HyperParameter(double value) : source_(static_cast<float>(value)) {}  // NOLINT
  HyperParameter(Output tensor) : source_(tensor) {}                    // NOLINT
  HyperParameter(Variable variable) : source_(variable) {}              // NOLINT
  // The function is called while the graph is built, each time that the optimizer needs the tensor.
  HyperParameter(Function function) : source_(std::move(function)) {}  // NOLINT

  // Returns the value as a tensor. A constant becomes a float Const called `name` in the open name
  // scope of `graph`. A variable is read. Tensors are returned unchanged.
  Output In(Graph& graph, std::string_view name) const;
  // Returns the number if this is a constant, nullopt otherwise.
  std::optional<float> constant() const;

 private:
  std::variant<float, Output, Variable, Function> source_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_HYPER_PARAMETER_H_
