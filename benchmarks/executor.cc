// Measures the overhead of the executor: `bazel run //benchmarks:executor`. All steps run on the
// thread of the caller. `time_per_op` is the time divided by the number of ops in the graph.
// Comments give the time of the best peer (another framework) for the same graph on two cores of an
// EPYC (Milan). Run the peers on the same machine before comparing (//benchmarks/versus).
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "benchmarks/run_step.h"
#include "executor/session/session.h"
#include "graph/build/node_builder.h"

namespace sluice {
namespace {

Output Make(Graph& g, const char* op, const std::vector<Output>& inputs) {
  NodeBuilder builder(&g, op, At::current());
  for (const Output& in : inputs) builder.Input(in);
  return Output(builder.Finish());
}

Output Placeholder(Graph& g, DataType dtype) {
  return Output(NodeBuilder(&g, "Placeholder", At::current())
                    .Attr("dtype", dtype)
                    .Attr("shape", PartialShape::Scalar())
                    .Finish());
}

Output Const(Graph& g, Tensor value) {
  return Output(NodeBuilder(&g, "Const", At::current())
                    .Attr("dtype", value.dtype())
                    .Attr("value", value)
                    .Finish());
}

void RunStep(benchmark::State& state, Graph& g, const StepToRun& step,
             const SessionOptions& options = {}) {
  Session session(g, options);
  RunStep(state, session, step);
}

// Peer: 1.3-1.8 us.
void EmptyRun(benchmark::State& state) {
  Graph g;
  RunStep(state, g, {{}, {}, {Operation(NodeBuilder(&g, "NoOp", At::current()).Finish())}});
}
BENCHMARK(EmptyRun);

// Peer: 2.6 us.
void FeedAndFetchAScalar(benchmark::State& state) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT);
  RunStep(state, g, {{{x, Tensor::Scalar(1.0f)}}, {Make(g, "Identity", {x})}});
}
BENCHMARK(FeedAndFetchAScalar);

// Peer: 270-440 ns per op.
void ChainOf1000(benchmark::State& state) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT);
  Output y = x;
  for (int i = 0; i < 1000; ++i) y = Make(g, "AddV2", {y, x});
  RunStep(state, g, {{{x, Tensor::Scalar(1.0f)}}, {y}, {}, 1000});
}
BENCHMARK(ChainOf1000);

// Peer: 760-990 ns per op.
void Independent1000(benchmark::State& state) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT);
  NodeBuilder join(&g, "NoOp", At::current());
  for (int i = 0; i < 1000; ++i) {
    join.ControlInput(Make(g, "AddV2", {x, Const(g, Tensor::Scalar<float>(i))}));
  }
  RunStep(state, g, {{{x, Tensor::Scalar(1.0f)}}, {}, {Operation(join.Finish())}, 1000},
          {.disabled_passes = {"unused_nodes"}});  // no node reads the results
}
BENCHMARK(Independent1000);

// Peer: 2.3 us per iteration.
void WhileLoopOf10000(benchmark::State& state) {
  Graph g;
  const Output limit = Placeholder(g, DT_INT32);
  auto enter = [&](Output value, bool constant) {
    return Output(NodeBuilder(&g, "Enter", At::current())
                      .Input(value)
                      .Attr("frame_name", std::string("loop"))
                      .Attr("is_constant", constant)
                      .Finish());
  };
  const Output first = enter(Const(g, Tensor::Scalar<int32_t>(0)), false);
  const Output end = enter(limit, true);
  const Output merged =
      Output(NodeBuilder(&g, "Merge", At::current()).Input(OutputList{first, first}).Finish());
  const Output goes_on = Make(g, "LoopCond", {Make(g, "Less", {merged, end})});
  const Output split = Make(g, "Switch", {merged, goes_on});
  const Output inside = Make(g, "Identity", {Output(split.node, 1)});
  const Output one = Output(NodeBuilder(&g, "Const", At::current())
                                .Attr("dtype", DT_INT32)
                                .Attr("value", Tensor::Scalar<int32_t>(1))
                                .ControlInput(inside)
                                .Finish());
  const Output next = Make(g, "NextIteration", {Make(g, "AddV2", {inside, one})});
  g.UpdateInput(merged.node, 1, next).IgnoreError();
  const Output out = Make(g, "Exit", {Output(split.node, 0)});
  RunStep(state, g, {{{limit, Tensor::Scalar<int32_t>(10000)}}, {out}, {}, 10000});
}
BENCHMARK(WhileLoopOf10000);

}  // namespace
}  // namespace sluice

BENCHMARK_MAIN();
