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
};

// Until training has ended; a parameter server, until the standard input does. Tells on the
// standard output what the launcher shows, a line a message:
//   at <global step> <local steps> <loss>
//   accuracy <of the test images>                 the chief, at the end
//   ledger <where the gradients went>             likewise, of synchronous training
absl::Status RunTask(const TaskOptions& options);

}  // namespace sluice::demos

#endif  // SLUICE_DEMOS_TASKS_TASK_H_
