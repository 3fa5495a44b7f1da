// A number that steers an optimizer: a constant, or a tensor (a schedule, a placeholder).
#ifndef SLUICE_TRAINING_OPTIMIZER_HYPER_PARAMETER_H_
#define SLUICE_TRAINING_OPTIMIZER_HYPER_PARAMETER_H_

#include <string_view>

#include "graph/ir/graph.h"

namespace sluice {

class HyperParameter {
 public:
  HyperParameter(float value) : value_(value) {}  // NOLINT: numbers are parameters
  HyperParameter(double value) : value_(static_cast<float>(value)) {}  // NOLINT
  HyperParameter(Output tensor) : tensor_(tensor) {}                   // NOLINT: so are tensors

  // The tensor; a constant becomes a float Const called `name` in the open name scope.
  Output In(Graph& graph, std::string_view name) const;
  float value() const { return value_; }

 private:
  float value_ = 0;
  Output tensor_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_HYPER_PARAMETER_H_
