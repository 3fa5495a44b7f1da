// Learning rates that decay with the global step.
//
//   Variable step = GlobalStep(g);
//   Adam adam({.learning_rate = ExponentialDecay(0.1f, step, 1000, 0.96f, {.staircase = true})});
//
// Numbers keep their C++ type: 1000 is an integer, as decay_steps usually is. Results are scalars
// of the rate's type (float for a number). Errors stay in the graph.
// Reference: the decays of tf.compat.v1.train, with the same values, nodes and names. Only
// PiecewiseConstant has other nodes: a lookup instead of nested conditionals.
#ifndef SLUICE_TRAINING_SCHEDULE_DECAY_H_
#define SLUICE_TRAINING_SCHEDULE_DECAY_H_

#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "graph/tensor/tensor.h"
#include "ops/state/variable.h"

namespace sluice {

// A number, a tensor or a variable.
class ScheduleNumber {
 public:
  template <typename T>
  requires std::is_arithmetic_v<T> ScheduleNumber(T number)  // NOLINT: numbers are numbers
      : source_(std::is_integral_v<T> ? Tensor::Scalar(static_cast<int32_t>(number))
                                      : Tensor::Scalar(static_cast<float>(number))) {}
  ScheduleNumber(Output tensor) : source_(tensor) {}        // NOLINT
  ScheduleNumber(Variable variable) : source_(variable) {}  // NOLINT

  Graph* graph() const;  // null for a number
  const Tensor* number() const { return std::get_if<Tensor>(&source_); }
  // The tensor. A number becomes a Const called `name`.
  Output In(Graph& graph, std::string_view name) const;
  // The value cast to `dtype`, with the node names of tf.cast.
  Output As(Graph& graph, DataType dtype) const;

 private:
  std::variant<Tensor, Output, Variable> source_;
};

struct DecayOptions {
  bool staircase = false;  // decays once per period of decay_steps
  std::string_view name = "";
};

// rate * decay_rate ^ (step / decay_steps)
Output ExponentialDecay(ScheduleNumber rate, ScheduleNumber step, ScheduleNumber decay_steps,
                        ScheduleNumber decay_rate, const DecayOptions& options = {});
// rate * exp(-decay_rate * step / decay_steps)
Output NaturalExpDecay(ScheduleNumber rate, ScheduleNumber step, ScheduleNumber decay_steps,
                       ScheduleNumber decay_rate, const DecayOptions& options = {});
// rate / (1 + decay_rate * step / decay_steps)
Output InverseTimeDecay(ScheduleNumber rate, ScheduleNumber step, ScheduleNumber decay_steps,
                        ScheduleNumber decay_rate, const DecayOptions& options = {});

struct PolynomialDecayOptions {
  ScheduleNumber end_learning_rate = 0.0001f;
  ScheduleNumber power = 1.0f;
  // Restarts with ever longer periods instead of staying at the end value.
  bool cycle = false;
  std::string_view name = "";
};
// (rate - end) * (1 - step / decay_steps) ^ power + end
Output PolynomialDecay(ScheduleNumber rate, ScheduleNumber step, ScheduleNumber decay_steps,
                       const PolynomialDecayOptions& options = {});

struct CosineDecayOptions {
  double alpha = 0.0;  // the final rate as a fraction of the initial rate
  std::string_view name = "";
};
// Loshchilov and Hutter 2017, without restarts.
Output CosineDecay(ScheduleNumber rate, ScheduleNumber step, ScheduleNumber decay_steps,
                   const CosineDecayOptions& options = {});

struct CosineDecayRestartsOptions {
  ScheduleNumber t_mul = 2.0f;  // length of a period relative to the previous one
  ScheduleNumber m_mul = 1.0f;  // initial rate of a period relative to the previous one
  ScheduleNumber alpha = 0.0f;
  std::string_view name = "";
};
Output CosineDecayRestarts(ScheduleNumber rate, ScheduleNumber step,
                           ScheduleNumber first_decay_steps,
                           const CosineDecayRestartsOptions& options = {});

struct LinearCosineDecayOptions {
  ScheduleNumber num_periods = 0.5f;
  ScheduleNumber alpha = 0.0f;
  ScheduleNumber beta = 0.001f;
  std::string_view name = "";
};
// Bello et al. 2017.
Output LinearCosineDecay(ScheduleNumber rate, ScheduleNumber step, ScheduleNumber decay_steps,
                         const LinearCosineDecayOptions& options = {});

struct NoisyLinearCosineDecayOptions {
  ScheduleNumber initial_variance = 1.0f;
  ScheduleNumber variance_decay = 0.55f;
  ScheduleNumber num_periods = 0.5f;
  ScheduleNumber alpha = 0.0f;
  ScheduleNumber beta = 0.001f;
  std::string_view name = "";
};
Output NoisyLinearCosineDecay(ScheduleNumber rate, ScheduleNumber step, ScheduleNumber decay_steps,
                              const NoisyLinearCosineDecayOptions& options = {});

// values[0] up to boundaries[0], values[1] up to boundaries[1], …, and the last value after the
// last boundary. `x` is a step or any other number. `boundaries` are in ascending order.
// INVALID_ARGUMENT "The length of boundaries should be 1 less than the length of values".
Output PiecewiseConstant(ScheduleNumber x, const std::vector<double>& boundaries,
                         const std::vector<double>& values, DataType dtype = DT_FLOAT,
                         std::string_view name = "");

}  // namespace sluice

#endif  // SLUICE_TRAINING_SCHEDULE_DECAY_H_
