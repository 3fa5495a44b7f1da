// Measures accumulators: `bazel run //benchmarks:accumulator`. Peers are other frameworks. Their
// times were measured on two cores of an EPYC (Milan): run them on the same machine before
// comparing (//benchmarks/versus).
#include "benchmarks/run_step.h"
#include "sluice.h"

namespace sluice {
namespace {

constexpr int kTimes = 10;

Output LocalStep(Graph& g) { return Constant(g, int64_t{1} << 40); }

Tensor Numbers(const TensorShape& shape) {
  Tensor t(DT_FLOAT, shape);
  for (float& v : t.flat<float>()) v = 0.5f;
  return t;
}

// Applies `gradients` gradients, one after the other, and then takes their mean. The first gradient
// is kept and the others are added to it. The bytes per second are those of the others. Peer, with
// one gradient: 3.7-5.6 us for 1 KB, 190-280 us for 1 MB.
void ApplyAndTake(benchmark::State& state) {
  const int64_t size = state.range(0) / 4;
  const auto gradients = static_cast<int>(state.range(1));
  Graph g;
  const Output accumulator = ConditionalAccumulator(g, DT_FLOAT, {size});
  Output x = Placeholder(g, DT_FLOAT, {size}, "x");
  Output value = x;
  for (int i = 0; i < kTimes; ++i) {
    std::vector<Operation> applied;
    for (int k = 0; k < gradients; ++k) {
      ControlDependencies after(g, applied);
      applied = {AccumulatorApplyGradient(accumulator, LocalStep(g), k == 0 ? value : x)};
    }
    ControlDependencies after(g, applied);
    value = AccumulatorTakeGradient(accumulator, Constant(g, gradients), DT_FLOAT);
  }
  Session session(g);
  RunStep(state, session,
          {{{x, Numbers({size})}}, {value}, {}, kTimes, 4.0 * size * (gradients - 1) * kTimes});
}
BENCHMARK(ApplyAndTake)->ArgsProduct({{1 << 10, 1 << 20}, {1, 2, 8}});

// Gradients of 4,096 of a million rows of 64.
void ApplyAndTakeRows(benchmark::State& state) {
  constexpr int64_t kAllRows = 1'000'000, kRows = 4096, kColumns = 64;
  const auto gradients = static_cast<int>(state.range(0));
  Graph g;
  const Output accumulator = SparseConditionalAccumulator(g, DT_FLOAT, {kAllRows, kColumns});
  Output rows = Placeholder(g, DT_INT64, {kRows}, "rows");
  Output values = Placeholder(g, DT_FLOAT, {kRows, kColumns}, "values");
  const Output shape = Constant(g, {kAllRows, kColumns});
  std::vector<Operation> applied;
  for (int k = 0; k < gradients; ++k) {
    applied.push_back(
        SparseAccumulatorApplyGradient(accumulator, LocalStep(g), rows, values, shape, true));
  }
  ControlDependencies after(g, applied);
  const Output taken =
      SparseAccumulatorTakeGradient(accumulator, Constant(g, gradients), DT_FLOAT).values;
  Tensor ids(DT_INT64, {kRows});
  for (int64_t i = 0; i < kRows; ++i) ids.data<int64_t>()[i] = i * 7919 % kAllRows;
  Session session(g);
  RunStep(state, session,
          {{{rows, ids}, {values, Numbers({kRows, kColumns})}},
           {taken},
           {},
           1,
           4.0 * kRows * kColumns * (gradients - 1)});
}
BENCHMARK(ApplyAndTakeRows)->Arg(1)->Arg(2);

}  // namespace
}  // namespace sluice

BENCHMARK_MAIN();
