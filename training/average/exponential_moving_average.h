// Moving averages of variables: shadow copies that follow them, average -= (1 - decay) * (average -
// value), for evaluation with smoother parameters.
//
//   ExponentialMovingAverage average(0.999, {.num_updates = step});
//   ControlDependencies after(g, {train});
//   absl::StatusOr<Operation> follow = average.Apply(TrainableVariables(g));
//
// Averages are variables `<variable>/ExponentialMovingAverage`, colocated with theirs and first
// equal to them; a Saver of VariablesToRestore() loads them into the variables themselves.
// Reference behaviour: tf.compat.v1.train.ExponentialMovingAverage: same nodes and names.
//
// Thread safety: none; it belongs to the graph being built. Its variables live in the graph.
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
  // A count n of updates (the global step): the decay is then min(decay, (1 + n) / (10 + n)), so
  // that the first averages follow faster.
  std::optional<HyperParameter> num_updates;
  // Averages of tensors begin at 0 and lean towards it; divides by what they lean (Kingma and Ba
  // 2014, section 3).
  bool zero_debias = false;
  bool use_resource = true;  // the kind of the averages of tensors
  std::string name = "ExponentialMovingAverage";
};

class ExponentialMovingAverage {
 public:
  explicit ExponentialMovingAverage(HyperParameter decay,
                                    ExponentialMovingAverageOptions options = {});

  // The op that moves the averages once, making those that are not there yet. With both lists empty
  // of all trainable variables of the graph. INVALID_ARGUMENT "The variables must be half, float,
  // or double: <name>"; the graph's own error.
  absl::StatusOr<Operation> Apply(const std::vector<Variable>& variables);
  absl::StatusOr<Operation> Apply(Graph& graph);
  // Averages of any tensors, which begin at 0; they are in no collection but the global variables.
  absl::StatusOr<Operation> ApplyToTensors(const OutputList& tensors);

  // Nullopt where it has none.
  std::optional<Variable> Average(const Variable& variable) const;
  std::optional<Variable> Average(Output tensor) const;
  // The name that the average has, or would have.
  std::string AverageName(const Variable& variable) const;
  // Name in a checkpoint -> variable to load it into: the averages into their variables, all other
  // global variables under their own names. Absent: of all trainable variables and those with an
  // average.
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
  std::map<std::pair<const Graph*, std::string>, Variable> averages_;  // by the value's tensor
};

// One step of one average under the name scope AssignMovingAvg; the op that has run when it is
// done. With zero_debias `average` is what stands in `<average>/biased`, corrected.
Operation AssignMovingAverage(const Variable& average, Operand value, Output decay,
                              bool zero_debias = false);

}  // namespace sluice

#endif  // SLUICE_TRAINING_AVERAGE_EXPONENTIAL_MOVING_AVERAGE_H_
