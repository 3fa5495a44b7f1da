// One process of the cluster demo: a parameter server, or a worker that trains.
//
// Variables are on the parameter servers, dealt by bytes; each worker has a graph and a monitored
// session of its own, whose master is the server in its process. Worker 0 is the chief. It needs
// no other worker, and no worker needs another: one that dies is missed, one that comes back joins
// at the step that the others are at.
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
  bool sync = true;               // else every worker updates by itself
  int replicas_to_aggregate = 1;  // gradients that make an update; of sync
  ModelKind model = ModelKind::kMlp;
  OptimizerKind optimizer = OptimizerKind::kAdam;
  float learning_rate = 0.001f;
  int64_t steps = 2000;  // global updates
  int64_t batch = 64;    // images a worker and step
  int64_t seed = 1;
  std::string data;  // folder
  // What the chief does when a worker is lost that an update needs; of sync.
  OnLostReplica on_lost_replica = OnLostReplica::kWait;
  std::string checkpoint_dir;  // of the chief; "": nothing is saved
  int64_t save_checkpoint_steps = 100;
  int heartbeat_ms = 10'000;  // a task that is silent for so long counts as gone
  std::string bind = "127.0.0.1";
  bool insecure = false;  // may listen elsewhere, without TLS: for networks that are trusted
};

// Until training has ended; a parameter server, until the standard input does. Tells on the
// standard output what the launcher shows, a line a message:
//   at <global step> <local steps> <loss>        the first step, and then a few times a second
//   accuracy <of the test images>                 the chief, at the end
//   ledger <where the gradients went>             likewise, of synchronous training
absl::Status RunTask(const TaskOptions& options);

}  // namespace sluice::demos

#endif  // SLUICE_DEMOS_TASKS_TASK_H_
