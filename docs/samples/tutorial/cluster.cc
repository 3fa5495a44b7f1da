// One task of a cluster that trains the tutorial's network. TF_CONFIG says which one:
//
//   TF_CONFIG='{"cluster": …, "task": …}' bazel run //docs/samples/tutorial:cluster -- FOLDER STEPS
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "docs/samples/tutorial/model.h"
#include "sluice.h"
#include "sluice_cluster.h"

namespace tutorial {
namespace {

// [task]
absl::Status RunTask(const std::string& folder, int64_t steps) {
  SLUICE_ASSIGN_OR_RETURN(const Cluster cluster, Cluster::FromEnvironment());
  SLUICE_ASSIGN_OR_RETURN(const auto server, Server::Start({.cluster = cluster}));
  if (cluster.task.job == "ps") {
    server->Join();
    return absl::OkStatus();
  }
  const bool is_chief = cluster.is_chief();
  Graph g;
  SyncReplicasOptimizer optimizer(Adam({.learning_rate = 0.001f}),
                                  {.replicas_to_aggregate = 1,
                                   .total_num_replicas = cluster.spec.NumTasks("worker"),
                                   .replica_id = cluster.task.index});
  Variable step;
  Output loss;
  Operation minimize;
  {
    DeviceScope place(g, ReplicaDevices(cluster));
    SLUICE_ASSIGN_OR_RETURN(const Batch train, Read(g, "train", 64));
    loss = losses::SparseSoftmaxCrossEntropy(train.labels, Mlp()(train.images));
    step = GlobalStep(g);
    minimize = optimizer.Minimize(loss, {.global_step = &step});
  }
  auto log = std::make_shared<LoggingTensorHook>(
      TaggedTensors{{"step", step}, {"loss", loss}},
      LoggingTensorOptions{.every = {.steps = 100}, .terminal = false});
  MonitoredTrainingSession session(
      g, {.is_chief = is_chief,
          .target = {.make =
                         [&](Graph& graph, const SessionTarget& target) {
                           return server->NewSession(graph, target.config,
                                                     {"/job:ps", cluster.task.ToString()});
                         }},
          .checkpoint_dir = folder,
          .hooks = {optimizer.MakeSessionRunHook(is_chief), log},
          .chief_only_hooks = {StopAtStep(steps)},
          .save_checkpoint_steps = 200});
  while (!session.ShouldStop()) SLUICE_RETURN_IF_ERROR(session.Run({minimize}));
  return session.Close();
}
// [/task]

}  // namespace
}  // namespace tutorial

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: cluster FOLDER STEPS\n"), 2;
  const absl::Status status = tutorial::RunTask(argv[1], std::atoll(argv[2]));
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
