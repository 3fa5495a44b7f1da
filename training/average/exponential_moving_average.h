// Keeps moving averages of variables, for evaluation with the averages instead of the values of the
// last step. An update computes average -= (1 - decay) * (average - value).
//
//   ExponentialMovingAverage average(0.999, {.num_updates = step});
//   ControlDependencies after(g, {train});
//   absl::StatusOr<Operation> follow = average.Apply(TrainableVariables(g));
//
// An average is a variable `<variable>/ExponentialMovingAverage`. It is colocated with its variable
// and starts with the same value. A Saver of VariablesToRestore() loads the averages into the
// variables themselves.
//
// Thread safety: none; it belongs to the graph that is being built.
// Ownership: its variables live in the graph, and the object may be destroyed once it has added
// them.
// Errors: returned by Apply.
// Reference: tf.compat.v1.train.ExponentialMovingAverage, with the same nodes and names.
#ifndef SLUICE_TRAINING_AVERAGE_EXPONENTIAL_MOVING_AVERAGE_H_
#define SLUICE_TRAINING_AVERAGE_EXPONENTIAL_MOVING_AVERAGE_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "training/optimizer/hyper_parameter.h"
#include "training/optimizer/slot.h"

namespace sluice {

// The collection of the variables that have an average.
inline constexpr std::string_view kMovingAverageVariables = "moving_average_variables";

struct ExponentialMovingAverageOptions {
  // The number n of updates, for example the global step. The decay is then min(decay, (1 + n) /
  // (10 + n)), so that early averages follow faster.
  std::optional<HyperParameter> num_updates;
  // Whether to correct the bias of averages of ApplyToTensors, which start at 0 and are at first
  // too close to 0 (Kingma and Ba 2014, section 3).
  bool zero_debias = false;
  // Whether averages of tensors are resource variables.
  bool use_resource = true;
  std::string name = "ExponentialMovingAverage";
};

class ExponentialMovingAverage {
 public:
  explicit ExponentialMovingAverage(HyperParameter decay,
                                    ExponentialMovingAverageOptions options = {});

  // Returns the op that updates the average of each variable once. Creates missing averages. The
  // second form averages all trainable variables of the graph. INVALID_ARGUMENT "no variables to
  // average", or "The variables must be half, float, or double: <name>". Also returns the error of
  // the graph.
  absl::StatusOr<Operation> Apply(const std::vector<Variable>& variables);
  absl::StatusOr<Operation> Apply(Graph& graph);
  // Like Apply, for any tensors. The averages start at 0 and are only in the collection of global
  // variables.
  absl::StatusOr<Operation> ApplyToTensors(const OutputList& tensors);

  // The variable with the average. Nullopt if the variable or tensor has no average.
  std::optional<Variable> Average(const Variable& variable) const;
  std::optional<Variable> Average(Output tensor) const;
  // The name of the average, which need not exist yet.
  std::string AverageName(const Variable& variable) const;
  // Maps names in a checkpoint to the variables to load. A variable in `averaged` has the name of
  // its average, and all other global variables have their own names. `averaged` defaults to all
  // trainable variables and all variables that have an average.
  std::map<std::string, Variable> VariablesToRestore(
      Graph& graph, const std::optional<std::vector<Variable>>& averaged = {}) const;

  const std::string& name() const { return options_.name; }

 private:
  struct Subject;
  absl::StatusOr<Operation> Apply(const std::vector<Subject>& subjects);
  void MakeAverage(const Subject& subject);
  Output Decay(Graph& graph) const;

  HyperParameter decay_;
  ExponentialMovingAverageOptions options_;
  // The averages, by the graph and the name of the tensor or variable that is averaged.
  std::map<std::pair<const Graph*, std::string>, Variable> averages_;
};

// Adds one update of the variable `average` by `value`, in the name scope AssignMovingAvg, and
// returns the op that completes it. `decay` is a scalar. With zero_debias, which
// ExponentialMovingAverageOptions explains, the variable `<average>/biased` holds the uncorrected
// average.
Operation AssignMovingAverage(const Variable& average, Operand value, Output decay,
                              bool zero_debias = false);

}  // namespace sluice

#endif  // SLUICE_TRAINING_AVERAGE_EXPONENTIAL_MOVING_AVERAGE_H_
