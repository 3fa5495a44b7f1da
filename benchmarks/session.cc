// Measures sessions: `bazel run //benchmarks:session`. The cases are first steps, steps whose feeds
// and fetches are named, concurrent steps, and contention for a variable.
#include "benchmarks/run_step.h"
#include "sluice.h"

namespace sluice {
namespace {

// Compiles a step that fetches y and runs it once.
void RunFirstStep(benchmark::State& state, Graph& g, Output x, Output y) {
  for (auto _ : state) {
    Session session(g);
    if (!Works(state, session.Run({{x, Tensor::Scalar(1.0f)}}, {y}).status())) return;
  }
  state.counters["time_per_op"] = benchmark::Counter(
      g.num_nodes(), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void Sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(1000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);
}

// A graph with many nodes.
void FirstStep(benchmark::State& state) {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {}, "x"), y = x;
  for (int i = 0; i < state.range(0); ++i) y = i % 2 == 0 ? y * x : y - x;
  RunFirstStep(state, g, x, y);
}
BENCHMARK(FirstStep)->Apply(Sizes);

// A graph with many equal nodes that read one tensor.
void FirstStepOfEqualNodes(benchmark::State& state) {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {}, "x"), y = x;
  for (int i = 0; i < state.range(0) / 2; ++i) y = y + Exp(x);
  RunFirstStep(state, g, x, y);
}
BENCHMARK(FirstStepOfEqualNodes)->Apply(Sizes);

// A graph with a node that waits for many equal nodes.
void FirstStepOfEqualWaits(benchmark::State& state) {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {}, "x");
  std::vector<Operation> before;
  for (int i = 0; i < state.range(0); ++i) before.push_back(Exp(x).node);
  const Operation all = Group(g, before);
  ControlDependencies after(g, {all});
  RunFirstStep(state, g, x, Identity(x));
}
BENCHMARK(FirstStepOfEqualWaits)->Apply(Sizes);

void ByName(benchmark::State& state) {
  Graph g;
  const Output y = Identity(Placeholder(g, DT_FLOAT, {}, "x"), {.name = "y"});
  Session session(g);
  const std::vector<NamedFeed> feeds = {{"x:0", Tensor::Scalar(1.0f)}};
  const std::vector<std::string> fetches = {"y:0"};
  for (auto _ : state) {
    if (!Works(state, session.Run(feeds, fetches, std::vector<std::string>{}).status())) return;
  }
}
BENCHMARK(ByName);

void ByCallable(benchmark::State& state) {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {}, "x");
  Session session(g);
  absl::StatusOr<Callable> step = session.MakeCallable({x}, {Identity(x)});
  if (!Works(state, step.status())) return;
  const Tensors feeds = {Tensor::Scalar(1.0f)};
  Tensors fetches;
  for (auto _ : state) {
    if (!Works(state, step->RunInto(feeds, &fetches))) return;
  }
}
BENCHMARK(ByCallable);

// A graph and its session, which live as long as the threads of a benchmark.
class Shared : public benchmark::Fixture {
 public:
  void SetUp(const benchmark::State& state) override {
    if (state.thread_index() != 0) return;
    const auto size = state.range(0);
    graph_ = std::make_unique<Graph>();
    Variable w(*graph_, "w", {size}, Zeros(), {.use_resource = true});
    add_ = w.AssignAdd(Fill(Constant(*graph_, {size}), Constant(*graph_, 1.0f)));
    read_ = Identity(w.Read());
    session_ = std::make_unique<Session>(*graph_, SessionOptions{.inter_op_threads = 1});
    init_ = session_->Run({InitializeVariables(*graph_)});
  }
  void TearDown(const benchmark::State& state) override {
    if (state.thread_index() != 0) return;
    session_.reset();
    graph_.reset();
  }

 protected:
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<Session> session_;
  absl::Status init_;
  Operation add_;
  Output read_;
};

// All threads read one variable.
BENCHMARK_DEFINE_F(Shared, Reads)(benchmark::State& state) {
  if (!Works(state, init_)) return;
  for (auto _ : state) benchmark::DoNotOptimize(session_->Run({}, {read_}));
}
BENCHMARK_REGISTER_F(Shared, Reads)->Arg(16)->ThreadRange(1, 4)->UseRealTime();

// All threads update one variable.
BENCHMARK_DEFINE_F(Shared, Updates)(benchmark::State& state) {
  if (!Works(state, init_)) return;
  for (auto _ : state) benchmark::DoNotOptimize(session_->Run({add_}));
}
BENCHMARK_REGISTER_F(Shared, Updates)->Arg(16)->Arg(1 << 16)->ThreadRange(1, 4)->UseRealTime();

}  // namespace
}  // namespace sluice

BENCHMARK_MAIN();
