// Finds out before the first step whether synchronous training can make progress with its counts.
//
// It reads the graph: which nodes put tokens into the queues, how many, and the queues' capacities.
// Whether every update comes about follows from these counts.
#ifndef SLUICE_TRAINING_SYNC_CHECK_PROGRESS_H_
#define SLUICE_TRAINING_SYNC_CHECK_PROGRESS_H_

#include <optional>

#include "absl/status/status.h"
#include "training/sync/replica_synchronizer.h"

namespace sluice {

// What the chief does besides training.
struct SyncPlan {
  Operation init_tokens;           // run before the first step; invalid: none
  bool runs_queue_runner = false;  // ChiefQueueRunner is started
  std::optional<int> replicas;     // that will really be there; absent: total_num_replicas
};

// INVALID_ARGUMENT names what is missing (queue runner, initial tokens, replicas, room in a queue)
// and the step at which all replicas would wait.
absl::Status CheckProgress(const ReplicaSynchronizer& optimizer, const SyncPlan& plan);

}  // namespace sluice

#endif  // SLUICE_TRAINING_SYNC_CHECK_PROGRESS_H_
