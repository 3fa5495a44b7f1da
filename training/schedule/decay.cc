#include "training/schedule/decay.h"

#include <numbers>
#include <string>

#include "graph/build/cond.h"
#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/builders/number_ops.h"
#include "ops/math/arithmetic_builders.h"
#include "ops/math/cast_builders.h"
#include "ops/math/compare_builders.h"
#include "ops/math/division_builders.h"
#include "ops/math/exponential_builders.h"
#include "ops/math/power_builders.h"
#include "ops/math/rounding_builders.h"
#include "ops/math/select_builders.h"
#include "ops/math/trigonometric_builders.h"
#include "ops/random/random_builders.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

Graph* GraphOf(const ScheduleNumber& a, const ScheduleNumber& b) {
  return a.graph() != nullptr ? a.graph() : b.graph();
}

// The common beginning of all decays: the scope, and the rate, which determines the type.
struct Start {
  Start(Graph& g, std::string_view name, std::string_view otherwise, const ScheduleNumber& r)
      : graph(g),
        scope(g, name.empty() ? otherwise : name),
        rate(r.In(g, "initial_learning_rate")),
        dtype(BaseType(rate.dtype())) {}
  Output As(const ScheduleNumber& n) const { return n.As(graph, dtype); }
  const std::string& name() const { return scope.prefix(); }

  Graph& graph;
  NameScope scope;
  Output rate;
  DataType dtype;
};

Output Pi(Graph& g, DataType dtype) { return Constant(g, std::numbers::pi, dtype); }

// Returns scale * (1 + cos(pi * fraction)).
Output CosineOf(Graph& g, Output fraction, Operand scale) {
  const Output angle = Pi(g, BaseType(fraction.dtype())) * fraction;
  const Output cosine = Cos(angle);
  const Output sum = 1.0 + cosine;
  return scale * sum;
}

// Returns x to the power of y. The nodes are those of x ** y in Python.
Output Power(Output x, Output y) { return BinaryOp("Pow", "pow", x, y); }

}  // namespace

Graph* ScheduleNumber::graph() const {
  if (const Output* tensor = std::get_if<Output>(&source_)) return tensor->graph();
  const Variable* variable = std::get_if<Variable>(&source_);
  return variable != nullptr && *variable ? &variable->graph() : nullptr;
}

Output ScheduleNumber::In(Graph& graph, std::string_view name) const {
  if (const Tensor* number = std::get_if<Tensor>(&source_)) return Constant(graph, *number, name);
  if (const Output* tensor = std::get_if<Output>(&source_)) return *tensor;
  return std::get<Variable>(source_).Read();
}

Output ScheduleNumber::As(Graph& graph, DataType dtype) const {
  if (const Output* tensor = std::get_if<Output>(&source_)) {
    return BaseType(tensor->dtype()) == dtype ? *tensor : Cast(*tensor, dtype);
  }
  NameScope scope(graph, "Cast");
  const Output x = In(graph, "x");
  return BaseType(x.dtype()) == dtype ? x : Cast(x, dtype, {.name = scope.prefix()});
}

Output ExponentialDecay(ScheduleNumber rate, ScheduleNumber step, ScheduleNumber decay_steps,
                        ScheduleNumber decay_rate, const DecayOptions& options) {
  Graph* g = GraphOf(step, rate);
  if (g == nullptr) return {};
  Start s(*g, options.name, "ExponentialDecay", rate);
  const Output steps = s.As(decay_steps);
  const Output base = s.As(decay_rate);
  Output p = s.As(step) / steps;
  if (options.staircase) p = Floor(p);
  const Output power = Pow(base, p);
  return Mul(s.rate, power, {.name = s.name()});
}

Output NaturalExpDecay(ScheduleNumber rate, ScheduleNumber step, ScheduleNumber decay_steps,
                       ScheduleNumber decay_rate, const DecayOptions& options) {
  Graph* g = GraphOf(step, rate);
  if (g == nullptr) return {};
  Output negative;
  {
    NameScope scope(*g, "Neg");
    negative = Neg(decay_rate.In(*g, "x"), {.name = scope.prefix()});
  }
  return ExponentialDecay(rate, step, decay_steps, Exp(negative), options);
}

Output InverseTimeDecay(ScheduleNumber rate, ScheduleNumber step, ScheduleNumber decay_steps,
                        ScheduleNumber decay_rate, const DecayOptions& options) {
  Graph* g = GraphOf(step, rate);
  if (g == nullptr) return {};
  Start s(*g, options.name, "InverseTimeDecay", rate);
  const Output steps = s.As(decay_steps);
  const Output factor = s.As(decay_rate);
  Output p = s.As(step) / steps;
  if (options.staircase) p = Floor(p);
  const Output one = Cast(Constant(*g, 1), s.dtype);
  const Output slowed = Mul(factor, p);
  const Output denominator = AddV2(one, slowed, {.name = "Add"});
  return RealDiv(s.rate, denominator, {.name = s.name()});
}

Output PolynomialDecay(ScheduleNumber rate, ScheduleNumber step, ScheduleNumber decay_steps,
                       const PolynomialDecayOptions& options) {
  Graph* g = GraphOf(step, rate);
  if (g == nullptr) return {};
  Start s(*g, options.name, "PolynomialDecay", rate);
  const Output end = s.As(options.end_learning_rate);
  const Output power = s.As(options.power);
  Output now = s.As(step);
  Output steps = s.As(decay_steps);
  if (options.cycle) {
    // The decay lasts for the smallest multiple of decay_steps that is not below the step, but at
    // step 0 for decay_steps.
    const Output is_first = Equal(now, 0);
    Output periods;
    if (const Tensor* number = decay_steps.number()) {
      NameScope scope(*g, "truediv");
      const Output y = Constant(*g,
                                number->dtype() == DT_INT32 ? Number(number->scalar<int32_t>())
                                                            : Number(number->scalar<float>()),
                                s.dtype, "y");
      periods = RealDiv(now, y, {.name = scope.prefix()});
    } else {
      periods = now / steps;
    }
    const Output up = Ceil(periods);
    NameScope scope(*g, "SelectV2");
    const Output one = Constant(*g, 1, s.dtype, "t");
    const Output multiplier = SelectV2(is_first, one, up, {.name = scope.prefix()});
    NameScope outside(*g, s.name());
    steps = Mul(steps, multiplier);
  } else {
    now = Minimum(now, steps);
  }
  const Output p = now / steps;
  const Output span = s.rate - end;
  const Output rest = 1 - p;
  const Output shape = Pow(rest, power);
  const Output above = Mul(span, shape);
  return AddV2(above, end, {.name = s.name()});
}

Output CosineDecay(ScheduleNumber rate, ScheduleNumber step, ScheduleNumber decay_steps,
                   const CosineDecayOptions& options) {
  Graph* g = GraphOf(step, rate);
  if (g == nullptr) return {};
  Start s(*g, options.name, "CosineDecay", rate);
  const Output steps = s.As(decay_steps);
  const Output now = Minimum(s.As(step), steps);
  const Output cosine = CosineOf(*g, now / steps, 0.5);
  const Output scaled = (1 - options.alpha) * cosine;
  const Output decayed = scaled + options.alpha;
  return Mul(s.rate, decayed);
}

Output CosineDecayRestarts(ScheduleNumber rate, ScheduleNumber step,
                           ScheduleNumber first_decay_steps,
                           const CosineDecayRestartsOptions& options) {
  Graph* g = GraphOf(step, rate);
  if (g == nullptr) return {};
  Start s(*g, options.name, "SGDRDecay", rate);
  const Output first = s.As(first_decay_steps);
  const Output alpha = s.As(options.alpha);
  const Output t_mul = s.As(options.t_mul);
  const Output m_mul = s.As(options.m_mul);
  const Output fraction = s.As(step) / first;
  auto even = [&]() -> OutputList {
    const Output restart = Floor(fraction);
    return {restart, fraction - restart};
  };
  // Period i has length t_mul ^ i, so sums of lengths are geometric series.
  auto geometric = [&]() -> OutputList {
    const Output rest = 1 - t_mul;
    const Output passed = fraction * rest;
    const Output log = Log(1 - passed);
    const Output restart = Floor(log / Log(t_mul));
    const Output length = Power(t_mul, restart);
    const Output up = 1 - length;
    const Output sum = up / (1 - t_mul);
    const Output within = fraction - sum;
    return {restart, within / Power(t_mul, restart)};
  };
  const Output is_even = Equal(t_mul, 1);
  const OutputList found = Cond(
      is_even, [&] { return BranchResult(even()); }, [&] { return BranchResult(geometric()); });
  if (found.size() != 2) return {};
  const Output height = 0.5 * Power(m_mul, found[0]);
  const Output cosine = CosineOf(*g, found[1], height);
  const Output share = 1 - alpha;
  const Output decayed = share * cosine + alpha;
  return Mul(s.rate, decayed, {.name = s.name()});
}

Output LinearCosineDecay(ScheduleNumber rate, ScheduleNumber step, ScheduleNumber decay_steps,
                         const LinearCosineDecayOptions& options) {
  Graph* g = GraphOf(step, rate);
  if (g == nullptr) return {};
  Start s(*g, options.name, "LinearCosineDecay", rate);
  const Output steps = s.As(decay_steps);
  const Output periods = s.As(options.num_periods);
  const Output alpha = s.As(options.alpha);
  const Output beta = s.As(options.beta);
  const Output now = Minimum(s.As(step), steps);
  const Output left = steps - now;
  const Output linear = left / steps;
  const Output done = now / steps;
  const Output doubled = 2 * periods;
  const Output cosine = CosineOf(*g, doubled * done, 0.5);
  const Output lifted = alpha + linear;
  const Output decayed = lifted * cosine + beta;
  return Mul(s.rate, decayed, {.name = s.name()});
}

Output NoisyLinearCosineDecay(ScheduleNumber rate, ScheduleNumber step, ScheduleNumber decay_steps,
                              const NoisyLinearCosineDecayOptions& options) {
  Graph* g = GraphOf(step, rate);
  if (g == nullptr) return {};
  Start s(*g, options.name, "NoisyLinearCosineDecay", rate);
  const Output steps = s.As(decay_steps);
  const Output initial_variance = s.As(options.initial_variance);
  const Output variance_decay = s.As(options.variance_decay);
  const Output periods = s.As(options.num_periods);
  const Output alpha = s.As(options.alpha);
  const Output beta = s.As(options.beta);
  const Output now = Minimum(s.As(step), steps);
  const Output left = steps - now;
  const Output linear = left / steps;
  const Output next = 1 + now;
  const Output variance = initial_variance / Pow(next, variance_decay);
  const Output stddev = Sqrt(variance);
  Output noise;
  {
    NameScope scope(*g, "random_normal");
    const Output shape = Constant(*g, Tensor(DT_INT32, {0}), "shape");
    const Output mean = Constant(*g, 0, s.dtype, "mean");
    const auto [seed, seed2] = SeedsFor(*g, {});
    const Output standard = RandomStandardNormal(shape, s.dtype, {.seed = seed, .seed2 = seed2});
    const Output scaled = Mul(standard, stddev, {.name = "mul"});
    noise = AddV2(scaled, mean, {.name = scope.prefix()});
  }
  const Output noisy = linear + noise;
  const Output done = now / steps;
  const Output doubled = 2 * periods;
  const Output cosine = CosineOf(*g, doubled * done, 0.5);
  const Output lifted = alpha + noisy;
  const Output decayed = lifted * cosine + beta;
  return Mul(s.rate, decayed, {.name = s.name()});
}

Output PiecewiseConstant(ScheduleNumber x, const std::vector<double>& boundaries,
                         const std::vector<double>& values, DataType dtype, std::string_view name) {
  Graph* g = x.graph();
  if (g == nullptr) return {};
  if (boundaries.size() + 1 != values.size()) {
    g->SetError(
        InvalidArgument("The length of boundaries should be 1 less than the length of values"));
    return {};
  }
  NameScope scope(*g, name.empty() ? "PiecewiseConstant" : name);
  const Output at = x.In(*g, "x");
  const Output table = Cast(Constant(*g, values, "values"), dtype);
  const Output edges = Constant(*g, boundaries, "boundaries");
  // The number of boundaries below x is the index of the value.
  const Output over = Less(edges, Cast(at, DT_DOUBLE));
  return Gather(table, ReduceSum(Cast(over, DT_INT32)));
}

}  // namespace sluice
