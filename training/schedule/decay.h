// Learning rates that decay with the global step.
//
//   Variable step = GlobalStep(g);
//   Adam adam({.learning_rate = ExponentialDecay(0.1f, step, 1000, 0.96f, {.staircase = true})});
//
// Each function adds the nodes that compute the rate of the present step. `rate` is the rate at
// step 0, `step` is usually the global step, and `decay_steps` is the length of a period in steps.
// Numbers keep their C++ type: 1000 is an integer, as decay_steps usually is. Results are scalars
// of the type of `rate`, which is float for a number such as 0.1.
//
// Thread safety: that of the graph, which one thread at a time builds.
// Ownership: the graph owns the nodes.
// Errors: stay in the graph, and the result is then invalid. It is also invalid, without an error,
// if neither `rate` nor `step` is a tensor or a variable.
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

// A number, a tensor or a variable: an argument of a decay. Converts from each of them. Integers
// become int32, other numbers float.
class ScheduleNumber {
 public:
  template <typename T>
  requires std::is_arithmetic_v<T> ScheduleNumber(T number)  // NOLINT: implicit
      : source_(std::is_integral_v<T> ? Tensor::Scalar(static_cast<int32_t>(number))
                                      : Tensor::Scalar(static_cast<float>(number))) {}
  ScheduleNumber(Output tensor) : source_(tensor) {}        // NOLINT
  ScheduleNumber(Variable variable) : source_(variable) {}  // NOLINT

  // The graph of the tensor or variable. Null for a number.
  Graph* graph() const;
  // Null for a tensor or variable.
  const Tensor* number() const { return std::get_if<Tensor>(&source_); }
  // Returns the tensor, or a read of the variable. A number becomes a Const called `name`.
  Output In(Graph& graph, std::string_view name) const;
  // Returns the value as a tensor of type `dtype`. The nodes have the names of tf.cast.
  Output As(Graph& graph, DataType dtype) const;

 private:
  std::variant<Tensor, Output, Variable> source_;
};

// Options of ExponentialDecay, NaturalExpDecay and InverseTimeDecay.
struct DecayOptions {
  // Whether the rate decays once per period of decay_steps, instead of in every step.
  bool staircase = false;
  std::string_view name = "";
};

// Returns rate * decay_rate ^ (step / decay_steps). The quotient is rounded down if `staircase` is
// set.
Output ExponentialDecay(ScheduleNumber rate, ScheduleNumber step, ScheduleNumber decay_steps,
                        ScheduleNumber decay_rate, const DecayOptions& options = {});
// Returns rate * exp(-decay_rate * (step / decay_steps)). The quotient is rounded down if
// `staircase` is set.
Output NaturalExpDecay(ScheduleNumber rate, ScheduleNumber step, ScheduleNumber decay_steps,
                       ScheduleNumber decay_rate, const DecayOptions& options = {});
// Returns rate / (1 + decay_rate * (step / decay_steps)). The quotient is rounded down if
// `staircase` is set.
Output InverseTimeDecay(ScheduleNumber rate, ScheduleNumber step, ScheduleNumber decay_steps,
                        ScheduleNumber decay_rate, const DecayOptions& options = {});

struct PolynomialDecayOptions {
  // The rate after decay_steps.
  ScheduleNumber end_learning_rate = 0.0001f;
  // The exponent in the formula of PolynomialDecay. 1: a linear decay.
  ScheduleNumber power = 1.0f;
  // Whether the rate rises again after each period of decay_steps. If false, it stays at
  // end_learning_rate after the first period.
  bool cycle = false;
  std::string_view name = "";
};

// Returns (rate - end) * (1 - step / decay_steps) ^ power + end, where `end` is end_learning_rate.
// After decay_steps the result stays at `end`. With `cycle`, decay_steps is replaced by its
// smallest positive multiple that is at least `step`. So the result does not stay at `end`, but
// rises and falls again.
Output PolynomialDecay(ScheduleNumber rate, ScheduleNumber step, ScheduleNumber decay_steps,
                       const PolynomialDecayOptions& options = {});

// Options of CosineDecay.
struct CosineDecayOptions {
  // The final rate as a fraction of the initial rate.
  double alpha = 0.0;
  std::string_view name = "";
};

// Returns rate * ((1 - alpha) * (1 + cos(pi * step / decay_steps)) / 2 + alpha), and rate * alpha
// after decay_steps. This is the schedule of Loshchilov and Hutter 2017 without restarts.
Output CosineDecay(ScheduleNumber rate, ScheduleNumber step, ScheduleNumber decay_steps,
                   const CosineDecayOptions& options = {});

// Options of CosineDecayRestarts. `alpha` is the lowest rate as a fraction of the initial rate.
struct CosineDecayRestartsOptions {
  // Length of a period relative to the previous one.
  ScheduleNumber t_mul = 2.0f;
  // Initial rate of a period relative to the previous one.
  ScheduleNumber m_mul = 1.0f;
  ScheduleNumber alpha = 0.0f;
  std::string_view name = "";
};

// Like CosineDecay, but restarts after first_decay_steps, and again after periods that grow by the
// factor t_mul (Loshchilov and Hutter 2017). If first_decay_steps is 1000 and t_mul is 2, periods
// begin at steps 0, 1000, 3000, 7000, ….
Output CosineDecayRestarts(ScheduleNumber rate, ScheduleNumber step,
                           ScheduleNumber first_decay_steps,
                           const CosineDecayRestartsOptions& options = {});

struct LinearCosineDecayOptions {
  // The number of periods of the cosine in decay_steps. With 0.5, the cosine term falls once from 1
  // to 0.
  ScheduleNumber num_periods = 0.5f;
  // The terms alpha and beta in the formula of LinearCosineDecay.
  ScheduleNumber alpha = 0.0f;
  ScheduleNumber beta = 0.001f;
  std::string_view name = "";
};

// Returns rate * ((alpha + linear) * cosine + beta), with linear = 1 - step / decay_steps and
// cosine = (1 + cos(2 * pi * num_periods * step / decay_steps)) / 2 (Bello et al. 2017).
Output LinearCosineDecay(ScheduleNumber rate, ScheduleNumber step, ScheduleNumber decay_steps,
                         const LinearCosineDecayOptions& options = {});

// The options of LinearCosineDecay, and two numbers from which the variance of the noise is
// computed (see NoisyLinearCosineDecay).
struct NoisyLinearCosineDecayOptions {
  ScheduleNumber initial_variance = 1.0f;
  ScheduleNumber variance_decay = 0.55f;
  ScheduleNumber num_periods = 0.5f;
  ScheduleNumber alpha = 0.0f;
  ScheduleNumber beta = 0.001f;
  std::string_view name = "";
};

// Like LinearCosineDecay, but adds Gaussian noise to the linear part. The noise of a step has the
// variance initial_variance / (1 + step) ^ variance_decay, and is drawn anew in each step.
Output NoisyLinearCosineDecay(ScheduleNumber rate, ScheduleNumber step, ScheduleNumber decay_steps,
                              const NoisyLinearCosineDecayOptions& options = {});

// Returns values[0] if x <= boundaries[0], values[1] if x <= boundaries[1], …, and the last value
// above the last boundary. `x` is a step or any other number. `boundaries` are in ascending order.
//
//   Output rate = PiecewiseConstant(step, {30'000, 60'000}, {0.1, 0.01, 0.001});
//
// INVALID_ARGUMENT "The length of boundaries should be 1 less than the length of values".
Output PiecewiseConstant(ScheduleNumber x, const std::vector<double>& boundaries,
                         const std::vector<double>& values, DataType dtype = DT_FLOAT,
                         std::string_view name = "");

}  // namespace sluice

#endif  // SLUICE_TRAINING_SCHEDULE_DECAY_H_
