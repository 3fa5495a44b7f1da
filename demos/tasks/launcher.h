// Starts the processes of a cluster on this machine and shows their progress. Can kill and restart
// a worker as a demonstration.
#ifndef SLUICE_DEMOS_TASKS_LAUNCHER_H_
#define SLUICE_DEMOS_TASKS_LAUNCHER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distributed/cluster/cluster_spec.h"

namespace sluice::demos {

struct LaunchOptions {
  int ps = 1;
  int workers = 2;
  int64_t steps = 2000;
  int64_t batch = 64;
  bool kill_one = false;  // kill the last worker at a third of the steps, and restart it later
  // The command line of a task's process.
  std::function<std::vector<std::string>(const ClusterSpec& spec, const TaskName& task)> command;
};

struct LaunchResult {
  double accuracy = 0;
  double seconds = 0;       // from the first reported step to the end
  int64_t steps = 0;        // the last reported step
  int64_t rejoined_at = 0;  // first step of the restarted worker; 0: it did not return
  std::string ledger;       // how many gradients were applied and dropped; "" if not reported
};

// Runs until training has ended. The first task that ends with an error ends all tasks.
// INVALID_ARGUMENT if there is no parameter server or worker, or if `kill_one` is set for a single
// worker.
absl::StatusOr<LaunchResult> Launch(const LaunchOptions& options);

}  // namespace sluice::demos

#endif  // SLUICE_DEMOS_TASKS_LAUNCHER_H_
