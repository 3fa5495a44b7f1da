// Checks before the first step whether synchronous training can make progress.
//
// An update needs `replicas_to_aggregate` gradients, and a replica needs a token for each gradient
// after its first one (token_queues.h). With too few tokens, an update would wait forever.
// CheckProgress reads from the graph how many tokens the chief's ops put into the token queues, and
// whether the queues can hold elements. SyncReplicasHook calls CheckProgress on the chief. A
// program that does not use this hook calls it once, before it creates the session.
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
  // The op that puts tokens into the queues before the first step (InitTokensOp). A
  // default-constructed Operation means that no tokens are put.
  Operation init_tokens;
  // Whether the chief starts the queue runner that repeats the update (ChiefQueueRunner).
  bool runs_queue_runner = false;
  // The number of replicas that will run. Nullopt: total_num_replicas of the optimizer's options.
  std::optional<int> replicas;
};

// Returns OK if every update can happen, and INVALID_ARGUMENT if all replicas would wait forever at
// the first or the second update. The error says what is missing (queue runner, initial tokens,
// replicas, queue capacity). FAILED_PRECONDITION if ApplyGradients was not called.
absl::Status CheckProgress(const ReplicaSynchronizer& optimizer, const SyncPlan& plan);

}  // namespace sluice

#endif  // SLUICE_TRAINING_SYNC_CHECK_PROGRESS_H_
