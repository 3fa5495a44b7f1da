// Runs one task of the cluster demo in this process: a parameter server, or a worker that trains.
//
// Variables are distributed over the parameter servers by size. Each worker has its own graph and
// monitored session, whose master is the server in its process. Worker 0 is the chief. A worker
// never waits for another worker's task: the others continue when a worker is lost, and a restarted
// worker joins at the current step.
#ifndef SLUICE_DEMOS_TASKS_TASK_H_
#define SLUICE_DEMOS_TASKS_TASK_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "demos/replicas/model.h"
#include "distributed/cluster/cluster_spec.h"
#include "training/sync/lost_replicas.h"

namespace sluice::demos {

struct TaskOptions {
  Cluster cluster;
  bool sync = true;               // otherwise every worker updates by itself
  int replicas_to_aggregate = 1;  // gradients per update; for `sync`
  ModelKind model = ModelKind::kMlp;
  OptimizerKind optimizer = OptimizerKind::kAdam;
  float learning_rate = 0.001f;
  int64_t steps = 2000;  // global updates
  int64_t batch = 64;    // images per worker and step
  int64_t seed = 1;
  std::string data;  // folder
  // The chief's reaction if it loses a worker that an update needs; for `sync`.
  OnLostReplica on_lost_replica = OnLostReplica::kWait;
  std::string checkpoint_dir;  // of the chief; "": saves nothing
  int64_t save_checkpoint_steps = 100;
  std::string summary_dir;    // of the chief, for event files; "": writes none
  int heartbeat_ms = 10'000;  // a task that is silent for this time counts as lost
  std::string bind = "127.0.0.1";
  bool insecure = false;  // may listen on other addresses without TLS, for trusted networks
};

// A worker runs until training has ended, a parameter server until its standard input ends. Writes
// lines for the launcher to the standard output:
//   at <global step> <local steps> <loss>        the first step, and then a few times per second
//   accuracy <of the test images>                 by the chief, at the end
//   ledger <counts of gradients>                  by the chief, for synchronous training
absl::Status RunTask(const TaskOptions& options);

}  // namespace sluice::demos

#endif  // SLUICE_DEMOS_TASKS_TASK_H_
