// Measures calls to a server: `bazel run //benchmarks:rpc`. Client and server are in one process
// and communicate over the loopback interface, by gRPC, or by lanes, which are the local
// connections between tasks of a host. //benchmarks/cluster measures calls between processes, and
// compares with TensorFlow.
#include "benchmarks/run_step.h"
#include "distributed/client/remote_session.h"
#include "distributed/server/server.h"
#include "sluice.h"

namespace sluice {
namespace {

// A step on the server that feeds and fetches range(0) bytes; over lanes if range(1) is 1.
void FeedAndFetch(benchmark::State& state) {
  const int64_t size = state.range(0) / 4;
  absl::StatusOr<std::unique_ptr<Server>> server =
      Server::Start({.port = 0, .lanes = state.range(1) == 1});
  if (!Works(state, server.status())) return;
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {size}, "x");
  const Output y = Identity(x);
  absl::StatusOr<std::unique_ptr<Session>> session = RemoteSession::Connect(g, (*server)->target());
  if (!Works(state, session.status())) return;
  RunStep(state, **session,
          {{{x, Tensor(DT_FLOAT, {size})}}, {y}, {}, 1, 2.0 * static_cast<double>(state.range(0))});
}
BENCHMARK(FeedAndFetch)
    ->ArgNames({"bytes", "lanes"})
    ->ArgsProduct({{4, 64 << 10, 1 << 20, 16 << 20}, {0, 1}})
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

}  // namespace
}  // namespace sluice

BENCHMARK_MAIN();
