// Measures queues: `bazel run //benchmarks:queue`. Peers are other frameworks. Their times were
// measured on two cores of an EPYC (Milan): run them on the same machine before comparing
// (//benchmarks/versus).
#include <thread>

#include "benchmarks/run_step.h"
#include "sluice.h"

namespace sluice {
namespace {

constexpr int kPairs = 100;

// Enqueue and dequeue in one step. Peer: 4.6-7.7 us per pair.
void EnqueueAndDequeue(benchmark::State& state) {
  Graph g;
  const Queue queue = Queue::Fifo(g, 10, {DT_FLOAT}, {.shapes = {PartialShape::Scalar()}});
  Output x = Placeholder(g, DT_FLOAT, {}, "x");
  Output value = x;
  for (int i = 0; i < kPairs; ++i) {
    ControlDependencies after(g, {queue.Enqueue({value})});
    value = queue.Dequeue()[0];
  }
  Session session(g);
  RunStep(state, session, {{{x, Tensor::Scalar(1.0f)}}, {value}, {}, kPairs});
}
BENCHMARK(EnqueueAndDequeue);

// One batch in, one batch out. Rows have 1 KB.
void Batches(benchmark::State& state) {
  const auto rows = static_cast<int>(state.range(0));
  constexpr int kColumns = 256;
  Graph g;
  const Queue queue =
      Queue::RandomShuffle(g, 4 * rows, 0, {DT_FLOAT}, {.shapes = {{kColumns}}, .seed = 1});
  Output x = Placeholder(g, DT_FLOAT, {rows, kColumns}, "x");
  ControlDependencies after(g, {queue.EnqueueMany({x})});
  const Output batch = queue.DequeueMany(Constant(g, rows))[0];
  Session session(g);
  RunStep(state, session,
          {{{x, Tensor(DT_FLOAT, {rows, kColumns})}}, {batch}, {}, 1.0 * rows, 2048.0 * rows});
}
BENCHMARK(Batches)->Arg(32)->Arg(1024);

// Steps of two sessions wait for each other in turn, so two threads wake each other.
void BetweenSessions(benchmark::State& state) {
  Graph g;
  const QueueOptions scalars{.shapes = {PartialShape::Scalar()}};
  const Queue there = Queue::Fifo(g, 1, {DT_FLOAT}, scalars);
  const Queue back = Queue::Fifo(g, 1, {DT_FLOAT}, scalars);
  Output x = Placeholder(g, DT_FLOAT, {}, "x");
  const Operation put = there.Enqueue({x});
  const Output got = back.Dequeue()[0];
  const Operation echo = back.Enqueue({there.Dequeue()[0]});
  const Operation close = there.Close();
  Session session(g);
  std::thread other([&] {
    while (session.Run({echo}).ok()) {
    }
  });
  RunStep(state, session, {{{x, Tensor::Scalar(1.0f)}}, {got}, {put}, 2});
  Works(state, session.Run({close}));
  other.join();
}
BENCHMARK(BetweenSessions)->UseRealTime();

}  // namespace
}  // namespace sluice

BENCHMARK_MAIN();
