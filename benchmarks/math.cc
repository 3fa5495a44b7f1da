// Measures the throughput of the math kernels: `bazel run //benchmarks:math`. Steps run on one
// thread with warm buffers, and compute in place if the executor would. Comments give the result of
// the best other framework on two cores of an EPYC (Milan).
#include <benchmark/benchmark.h>

#include <vector>

#include "executor/session/session.h"
#include "ops/builders/ops.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

Tensor Numbers(const TensorShape& shape) {
  Tensor t(DT_FLOAT, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    t.data<float>()[i] = static_cast<float>(i % 1000) / 500.0f - 1.0f;
  }
  return t;
}

// Runs steps that compute `make(inputs)` `kTimes` times and fetch nothing.
template <typename Make>
void Run(benchmark::State& state, const std::vector<TensorShape>& shapes, double per_item,
         const char* unit, Make make, const SessionOptions& options = {}) {
  constexpr int kTimes = 8;
  Graph g;
  OutputList inputs;
  std::vector<Feed> feeds;
  for (const TensorShape& s : shapes) {
    inputs.push_back(Placeholder(g, DT_FLOAT, s));
    feeds.push_back({inputs.back(), Numbers(s)});
  }
  std::vector<Operation> targets;
  for (int i = 0; i < kTimes; ++i) targets.push_back(make(inputs));
  Session session(g, options);
  for (int i = 0; i < 3; ++i) {
    const absl::StatusOr<Tensors> out = session.Run(feeds, OutputList{}, targets);
    if (!out.ok()) {
      state.SkipWithError(out.status().ToString().c_str());
      return;
    }
  }
  for (auto _ : state) benchmark::DoNotOptimize(session.Run(feeds, OutputList{}, targets));
  state.counters[unit] =
      benchmark::Counter(per_item * kTimes * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["us"] = benchmark::Counter(
      kTimes * 1e-6, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

constexpr int64_t kSmall = 256 * 1024;

void AddSmall(benchmark::State& state) {  // 94 GB/s
  Run(state, {{kSmall}, {kSmall}}, 12.0 * kSmall, "GB/s",
      [](const OutputList& in) { return AddV2(in[0], in[1]); });
}
BENCHMARK(AddSmall);

void AddRow(benchmark::State& state) {
  Run(state, {{512, 512}, {512}}, 8.0 * kSmall, "GB/s",
      [](const OutputList& in) { return AddV2(in[0], in[1]); });
}
BENCHMARK(AddRow);

// Images of 64 channels with range(0) rows. range(1): whether the nodes are fused.
void BiasAndRelu(benchmark::State& state) {
  SessionOptions options;
  options.disabled_passes = {"common_subexpressions"};
  if (state.range(1) == 0) options.disabled_passes.insert("fuse_elementwise");
  const int64_t rows = state.range(0);
  Run(
      state, {{rows, 64}, {64}}, 8.0 * 64 * static_cast<double>(rows), "GB/s",
      [](const OutputList& in) { return Relu(BiasAdd(in[0], in[1])); }, options);
}
BENCHMARK(BiasAndRelu)->ArgsProduct({{100, 4096, 262144}, {0, 1}})->UseRealTime();

void AddNarrowRow(benchmark::State& state) {
  Run(state, {{kSmall / 10, 10}, {10}}, 8.0 * kSmall, "GB/s",
      [](const OutputList& in) { return AddV2(in[0], in[1]); });
}
BENCHMARK(AddNarrowRow);

void MulColumn(benchmark::State& state) {
  Run(state, {{512, 512}, {512, 1}}, 8.0 * kSmall, "GB/s",
      [](const OutputList& in) { return Mul(in[0], in[1]); });
}
BENCHMARK(MulColumn);

void TanhSmall(benchmark::State& state) {  // 212 us
  Run(state, {{kSmall}}, 8.0 * kSmall, "GB/s", [](const OutputList& in) { return Tanh(in[0]); });
}
BENCHMARK(TanhSmall);

void ExpSmall(benchmark::State& state) {
  Run(state, {{kSmall}}, 8.0 * kSmall, "GB/s", [](const OutputList& in) { return Exp(in[0]); });
}
BENCHMARK(ExpSmall);

// Attention: in each row of scores some are masked by a large negative number.
void SoftmaxOfScores(benchmark::State& state) {
  const auto masked = static_cast<float>(state.range(0));
  Run(state, {{kSmall / 64, 64}}, 8.0 * kSmall, "GB/s", [&](const OutputList& in) {
    Tensor mask(DT_FLOAT, {64});
    for (int i = 0; i < 64; ++i) mask.data<float>()[i] = i < 32 ? 0 : masked;
    return Softmax(in[0] + Constant(*in[0].graph(), mask));
  });
}
BENCHMARK(SoftmaxOfScores)->Arg(0)->Arg(-1'000'000'000);

void SumAll(benchmark::State& state) {  // 62 GB/s
  Run(state, {{kSmall}}, 4.0 * kSmall, "GB/s",
      [](const OutputList& in) { return ReduceSum(in[0]); });
}
BENCHMARK(SumAll);

void SumRows(benchmark::State& state) {
  Run(state, {{512, 512}}, 4.0 * kSmall, "GB/s",
      [](const OutputList& in) { return ReduceSum(in[0], 1); });
}
BENCHMARK(SumRows);

void SumColumns(benchmark::State& state) {
  Run(state, {{512, 512}}, 4.0 * kSmall, "GB/s",
      [](const OutputList& in) { return ReduceSum(in[0], 0); });
}
BENCHMARK(SumColumns);

void MaxNarrowRows(benchmark::State& state) {
  Run(state, {{kSmall / 10, 10}}, 4.0 * kSmall, "GB/s",
      [](const OutputList& in) { return ReduceMax(in[0], 1); });
}
BENCHMARK(MaxNarrowRows);

void MatMulSquare(benchmark::State& state) {  // 64: 75, 256: 125, 1024: 161 GFLOP/s on two threads
  const int64_t n = state.range(0);
  Run(state, {{n, n}, {n, n}}, 2.0 * n * n * n, "GFLOP/s",
      [](const OutputList& in) { return MatMul(in[0], in[1]); });
}
BENCHMARK(MatMulSquare)->Arg(64)->Arg(256)->Arg(1024)->UseRealTime();

}  // namespace
}  // namespace sluice

BENCHMARK_MAIN();
