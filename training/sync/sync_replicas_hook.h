// Starts synchronous training in a session: the first tokens and the queue runner on the chief, the
// local step on every replica.
//
//   hooks.push_back(optimizer.MakeSessionRunHook(is_chief));
//
// Reference behaviour: what SyncReplicasOptimizer.make_session_run_hook gives; besides, a replica
// that ends gives its token back (ReplicaSynchronizer::LeaveOp), and the chief can report the
// ledger. Errors: FAILED_PRECONDITION where the optimizer has applied nothing yet or the variables
// have no values; INVALID_ARGUMENT where training could never go on (CheckProgress).
#ifndef SLUICE_TRAINING_SYNC_SYNC_REPLICAS_HOOK_H_
#define SLUICE_TRAINING_SYNC_SYNC_REPLICAS_HOOK_H_

#include <functional>
#include <optional>
#include <string>

#include "training/session/session_run_hook.h"
#include "training/sync/replica_synchronizer.h"

namespace sluice {

class SyncReplicasHook : public SessionRunHook {
 public:
  // `optimizer` outlives the hook. `report` is told at the end: this replica's local and the global
  // step, and of the chief where all gradients went.
  SyncReplicasHook(ReplicaSynchronizer& optimizer, bool is_chief, int num_tokens = -1,
                   std::function<void(const std::string&)> report = {})
      : optimizer_(optimizer),
        is_chief_(is_chief),
        num_tokens_(num_tokens),
        report_(std::move(report)) {}

  absl::Status Begin(Graph& graph) override;
  absl::Status AfterCreateSession(Session& session, Coordinator& coordinator) override;
  absl::Status End(Session& session) override;

 private:
  absl::Status CheckReady(Session& session) const;
  absl::Status Report(Session& session) const;

  ReplicaSynchronizer& optimizer_;
  const bool is_chief_;
  const int num_tokens_;
  const std::function<void(const std::string&)> report_;
  Operation local_init_;
  Operation forget_undone_tokens_;
  Operation init_tokens_;
  Operation leave_;
  Output ledger_, local_step_, global_step_;
  std::optional<QueueRunner> runner_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SYNC_SYNC_REPLICAS_HOOK_H_
