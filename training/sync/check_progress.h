// Can synchronous training ever make progress with these counts? Asked before the first step.
//
// The graph is read, not trusted: what puts tokens into the queues and how many, and the queues'
// capacities; whether each update comes about follows from the counts.
#ifndef SLUICE_TRAINING_SYNC_CHECK_PROGRESS_H_
#define SLUICE_TRAINING_SYNC_CHECK_PROGRESS_H_

#include <optional>

#include "absl/status/status.h"
#include "training/sync/replica_synchronizer.h"

namespace sluice {

// On a node that puts tokens into a queue: how many, where that is only known when it runs, while
// all replicas are there.
inline constexpr char kTokensAttr[] = "_tokens";

// What the chief does besides training.
struct SyncPlan {
  Operation init_tokens;           // run before the first step; invalid: none
  bool runs_queue_runner = false;  // ChiefQueueRunner is started
  std::optional<int> replicas;     // that will really be there; absent: total_num_replicas
};

// INVALID_ARGUMENT, naming what is missing (queue runner, initial tokens, replicas, room in a
// queue) and the step at which everybody would wait.
absl::Status CheckProgress(const ReplicaSynchronizer& optimizer, const SyncPlan& plan);

}  // namespace sluice

#endif  // SLUICE_TRAINING_SYNC_CHECK_PROGRESS_H_
