// Measures a step of synchronous replicas that share a process: `bazel run //benchmarks:sync_step`.
// The model is one variable with a trivial gradient, so the time is that of the protocol: tokens
// (permissions to compute a gradient), accumulators, and the chief's update. //benchmarks/cluster
// measures several processes, and compares with TensorFlow.
#include "benchmarks/run_step.h"
#include "sluice.h"

namespace sluice {
namespace {

struct Replica {
  Replica(int index, int count, int64_t size, std::shared_ptr<DeviceSet> devices)
      : optimizer(GradientDescent({.learning_rate = 0.1f}),
                  {.replicas_to_aggregate = count, .total_num_replicas = count}) {
    DeviceScope place(graph, [index](const NodeSpec& spec) -> std::string {
      if (!spec.device.empty()) return spec.device;
      return spec.op == "VarHandleOp" ? "/device:CPU:0" : StrCat("/device:CPU:", index + 1);
    });
    Variable step = GlobalStep(graph);
    Variable w(graph, "w", {size}, Zeros());
    train = optimizer.Minimize(ReduceSum(w.Read()), {.global_step = &step});
    tokens = optimizer.InitTokensOp().value_or(Operation());
    init = InitializeVariables(graph);
    session = std::make_unique<Session>(graph, SessionOptions{.devices = std::move(devices)});
  }

  SyncReplicasOptimizer optimizer;
  Graph graph;
  Operation train, tokens, init;
  std::unique_ptr<Session> session;
};

absl::Status Prepare(std::vector<std::unique_ptr<Replica>>& replicas) {
  Replica& chief = *replicas[0];
  SLUICE_RETURN_IF_ERROR(chief.graph.status());
  SLUICE_RETURN_IF_ERROR(chief.session->Run({chief.init}));
  SLUICE_RETURN_IF_ERROR(chief.session->Run({chief.optimizer.chief_init_op()}));
  SLUICE_RETURN_IF_ERROR(chief.session->Run({chief.tokens}));
  for (auto& replica : replicas) {
    SLUICE_RETURN_IF_ERROR(replica->session->Run({replica->optimizer.local_step_init_op()}));
  }
  return absl::OkStatus();
}

// range(0) replicas and a variable of range(1) floats.
void SyncStep(benchmark::State& state) {
  const auto count = static_cast<int>(state.range(0));
  std::vector<std::unique_ptr<Replica>> replicas;
  const auto devices = DeviceSet::Cpus(count + 1);
  for (int i = 0; i < count; ++i) {
    replicas.push_back(std::make_unique<Replica>(i, count, state.range(1), devices));
  }
  if (!Works(state, Prepare(replicas))) return;
  Coordinator coordinator({absl::StatusCode::kOutOfRange, absl::StatusCode::kCancelled});
  absl::StatusOr<QueueRunner> updates = replicas[0]->optimizer.ChiefQueueRunner();
  if (!Works(state, updates.status())) return;
  updates->Start(*replicas[0]->session, coordinator);
  for (int i = 1; i < count; ++i) {
    coordinator.Start("replica", [&coordinator, replica = replicas[i].get()]() -> absl::Status {
      while (!coordinator.ShouldStop()) {
        SLUICE_RETURN_IF_ERROR(replica->session->Run({replica->train}));
      }
      return absl::OkStatus();
    });
  }
  RunStep(state, *replicas[0]->session, {{}, {}, {replicas[0]->train}});
  coordinator.RequestStop();
  for (auto& replica : replicas) replica->session->Close().IgnoreError();
  Works(state, coordinator.Join());
}
BENCHMARK(SyncStep)
    ->ArgNames({"replicas", "floats"})
    ->ArgsProduct({{1, 2, 4}, {256, 1 << 18}})
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

}  // namespace
}  // namespace sluice

BENCHMARK_MAIN();
