// Learning rates that fall with the global step.
//
//   Variable step = GlobalStep(g);
//   Adam adam({.learning_rate = ExponentialDecay(0.1f, step, 1000, 0.96f, {.staircase = true})});
//
// Numbers keep their C++ kind: 1000 is an integer, as decay_steps usually is. Results are scalars
// of the rate's type (a number's: float). Errors stay in the graph. Reference behaviour:
// tf.compat.v1.train's decays: same values; same nodes and names, but for PiecewiseConstant, which
// is a lookup instead of nested conditionals.
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

  Graph* graph() const;  // null of a number
  const Tensor* number() const { return std::get_if<Tensor>(&source_); }
  // The tensor; a number becomes a Const `name`.
  Output In(Graph& graph, std::string_view name) const;
  // As `dtype`, under the names that tf.cast gives.
  Output As(Graph& graph, DataType dtype) const;

 private:
  std::variant<Tensor, Output, Variable> source_;
};

struct DecayOptions {
  bool staircase = false;  // whole periods only
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
  // Begins again, with longer and longer periods, instead of staying at the end.
  bool cycle = false;
  std::string_view name = "";
};
// (rate - end) * (1 - step / decay_steps) ^ power + end
Output PolynomialDecay(ScheduleNumber rate, ScheduleNumber step, ScheduleNumber decay_steps,
                       const PolynomialDecayOptions& options = {});

struct CosineDecayOptions {
  double alpha = 0.0;  // the share of the rate that is left at the end
  std::string_view name = "";
};
// Loshchilov and Hutter 2017, without restarts.
Output CosineDecay(ScheduleNumber rate, ScheduleNumber step, ScheduleNumber decay_steps,
                   const CosineDecayOptions& options = {});

struct CosineDecayRestartsOptions {
  ScheduleNumber t_mul = 2.0f;  // each period is so many times as long as the one before,
  ScheduleNumber m_mul = 1.0f;  // and begins at so many times its rate
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

// values[0] up to boundaries[0], values[1] up to boundaries[1], …, the last value after the last
// boundary. `x` is a step or any other number; boundaries rise.
// INVALID_ARGUMENT "The length of boundaries should be 1 less than the length of values".
Output PiecewiseConstant(ScheduleNumber x, const std::vector<double>& boundaries,
                         const std::vector<double>& values, DataType dtype = DT_FLOAT,
                         std::string_view name = "");

}  // namespace sluice

#endif  // SLUICE_TRAINING_SCHEDULE_DECAY_H_
