// Learning-rate decays over a counted step, and clipping.
#include "graph/status.h"
#include "tests/oracle/training/examples.h"
#include "training/gradient/clip.h"
#include "training/schedule/decay.h"

namespace sluice {
namespace {

using MakeRate = std::function<Output(Variable step)>;

// The rate at each of 25 steps.
Example Schedule(std::string name, MakeRate make) {
  auto build = [make](Graph& g, Spec& spec) {
    g.SetRandomSeed(7);
    Variable step = GlobalStep(g);
    const Output rate = make(step);
    const Operation count = step.AssignAdd(Constant(g, int64_t{1}), {.name = "count"});
    spec.init = {InitializeVariables(g)};
    spec.fetches = {rate};
    spec.targets = {count};
    spec.steps = 25;
  };
  return {std::move(name), build};
}

std::vector<Example> Decays() {
  const DecayOptions stairs = {.staircase = true};
  return {
      Schedule("exponential", [](Variable s) { return ExponentialDecay(0.5f, s, 10, 0.9f); }),
      Schedule("exponential_stairs",
               [=](Variable s) { return ExponentialDecay(0.5f, s, 10, 0.9f, stairs); }),
      Schedule("natural_exp", [](Variable s) { return NaturalExpDecay(0.5f, s, 10, 0.9f); }),
      Schedule("natural_exp_stairs",
               [=](Variable s) { return NaturalExpDecay(0.5f, s, 10, 0.9f, stairs); }),
      Schedule("inverse_time", [](Variable s) { return InverseTimeDecay(0.5f, s, 10, 0.3f); }),
      Schedule("inverse_time_stairs",
               [=](Variable s) { return InverseTimeDecay(0.5f, s, 10, 0.3f, stairs); }),
      Schedule("polynomial", [](Variable s) { return PolynomialDecay(0.5f, s, 10); }),
      Schedule("polynomial_cycle",
               [](Variable s) {
                 return PolynomialDecay(0.5f, s, 10,
                                        {.power = 2.0f, .cycle = true, .name = "Cycle"});
               }),
      Schedule("cosine", [](Variable s) { return CosineDecay(0.5f, s, 20, {.alpha = 0.1}); }),
      Schedule("cosine_restarts", [](Variable s) { return CosineDecayRestarts(0.5f, s, 5); }),
      Schedule("cosine_restarts_even",
               [](Variable s) {
                 return CosineDecayRestarts(0.5f, s, 5,
                                            {.t_mul = 1.0f, .m_mul = 0.9f, .alpha = 0.05f});
               }),
      Schedule("linear_cosine", [](Variable s) { return LinearCosineDecay(0.5f, s, 20); }),
      Schedule("noisy_linear_cosine",
               [](Variable s) { return NoisyLinearCosineDecay(0.5f, s, 20); }),
      Schedule("piecewise",
               [](Variable s) {
                 return PiecewiseConstant(s, {5, 10}, {0.5, 0.3, 0.1});
               }),
  };
}

void Clip(Graph& g, Spec& spec) {
  const Output a = Constant(g, Tensor::Of<float>({2, 3}, {1, -2, 3, -4, 5, -6}), "a");
  const Output b = Constant(g, {1.f, 2.f, 3.f, 4.f}, "b");
  const Output zeros = Constant(g, {0.f, 0.f}, "nothing");
  const IndexedSlices rows = {.values = a, .indices = Constant(g, {3, 0}, "rows")};
  spec.fetches.push_back(ClipByValue(a, -1.5f, 2.0f).dense());
  spec.fetches.push_back(ClipByValue(rows, -1.0f, 1.0f).slices().values);
  spec.fetches.push_back(ClipByNorm(a, 2.0f).dense());
  spec.fetches.push_back(ClipByNorm(a, 2.0f, {1}).dense());
  spec.fetches.push_back(ClipByNorm(zeros, 2.0f).dense());
  spec.fetches.push_back(GlobalNorm({a, Grad(), b}));
  const ClippedGradients clipped = ClipByGlobalNorm({a, Grad(), b, rows}, 3.0f);
  spec.fetches.push_back(clipped.grads[0].dense());
  spec.fetches.push_back(clipped.grads[2].dense());
  spec.fetches.push_back(clipped.grads[3].slices().values);
  spec.fetches.push_back(clipped.global_norm);
  spec.fetches.push_back(ClipByAverageNorm(a, 0.5f));
  spec.targets = {NoOp(g)};
  spec.steps = 1;
}

}  // namespace

std::vector<Example> ScheduleExamples() {
  std::vector<Example> examples = Decays();
  examples.push_back({"clip", Clip});
  return examples;
}

}  // namespace sluice
