// Checks before the first step whether synchronous training can make progress.
//
// CheckProgress reads from the graph how many tokens the nodes put into the queues, and the queues'
// capacities. A token permits a replica to compute one gradient (token_queues.h). These numbers
// decide whether every update can happen. SyncReplicasHook calls CheckProgress on the chief. A
// program with a loop of its own calls it once, before the session.
//
// Thread safety: it only reads the graph, which must not change during the call.
// Ownership: arguments are used during the call only.
// Errors: see CheckProgress.
#ifndef SLUICE_TRAINING_SYNC_CHECK_PROGRESS_H_
#define SLUICE_TRAINING_SYNC_CHECK_PROGRESS_H_

#include <optional>

#include "absl/status/status.h"
#include "training/sync/replica_synchronizer.h"

namespace sluice {

// Describes how the chief will run the training.
struct SyncPlan {
  // The op that puts tokens into the queues before the first step. Invalid: none.
  Operation init_tokens;
  // Whether the chief starts the queue runner that repeats the update (ChiefQueueRunner).
  bool runs_queue_runner = false;
  // The number of replicas that will run. Nullopt: total_num_replicas.
  std::optional<int> replicas;
};

// Returns INVALID_ARGUMENT if all replicas would wait forever at the first or a later update. The
// error names this update and the missing part (queue runner, initial tokens, replicas, queue
// capacity). FAILED_PRECONDITION if ApplyGradients was not called.
absl::Status CheckProgress(const ReplicaSynchronizer& optimizer, const SyncPlan& plan);

}  // namespace sluice

#endif  // SLUICE_TRAINING_SYNC_CHECK_PROGRESS_H_
