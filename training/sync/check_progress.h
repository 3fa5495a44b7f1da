// Checks before the first step whether synchronous training can make progress.
//
// It reads from the graph how many tokens the nodes put into the queues, and the queues'
// capacities. These counts decide whether every update can happen.
#ifndef SLUICE_TRAINING_SYNC_CHECK_PROGRESS_H_
#define SLUICE_TRAINING_SYNC_CHECK_PROGRESS_H_

#include <optional>

#include "absl/status/status.h"
#include "training/sync/replica_synchronizer.h"

namespace sluice {

// Describes how the chief will run the training.
struct SyncPlan {
  Operation init_tokens;           // run before the first step; invalid: none
  bool runs_queue_runner = false;  // whether ChiefQueueRunner is started
  std::optional<int> replicas;     // number of replicas that will run; nullopt: total_num_replicas
};

// INVALID_ARGUMENT names the missing part (queue runner, initial tokens, replicas, queue capacity)
// and the step at which all replicas would wait.
absl::Status CheckProgress(const ReplicaSynchronizer& optimizer, const SyncPlan& plan);

}  // namespace sluice

#endif  // SLUICE_TRAINING_SYNC_CHECK_PROGRESS_H_
