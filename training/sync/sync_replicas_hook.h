// A hook that starts synchronous training in a session. On every replica it sets the local step,
// which is the global step of the parameters that the replica has read. On the chief it also starts
// the queue runner that makes the updates, and puts the first tokens. A token is a permission to
// compute one gradient (token_queues.h).
//
//   MonitoredTrainingSession session(
//       g, {.is_chief = is_chief, .hooks = {optimizer.MakeSessionRunHook(is_chief)}});
//   while (!session.ShouldStop()) SLUICE_RETURN_IF_ERROR(session.Run({train}));
//
// A replica that ends, unless it is the chief, returns its token (ReplicaSynchronizer::LeaveOp). If
// training continues from a global step above 0, the chief puts as many tokens into the queue as an
// update does. It does so because tokens may have been lost with the previous chief. The chief's
// hook also reacts to lost replicas (lost_replicas.h).
//
// Thread safety: as SessionRunHook: only the loop's thread calls it. It reacts to lost replicas in
// a thread that the coordinator joins.
// Ownership: the loop shares ownership of the hook. The optimizer and the graph outlive it.
// Errors: FAILED_PRECONDITION if ApplyGradients was not called or variables are not initialized;
// INVALID_ARGUMENT if training could never make progress (CheckProgress).
// Reference: SyncReplicasOptimizer.make_session_run_hook.
#ifndef SLUICE_TRAINING_SYNC_SYNC_REPLICAS_HOOK_H_
#define SLUICE_TRAINING_SYNC_SYNC_REPLICAS_HOOK_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "training/session/session_run_hook.h"
#include "training/sync/replica_synchronizer.h"

namespace sluice {

// Programs create it with ReplicaSynchronizer::MakeSessionRunHook. Every replica needs one; exactly
// one of them is the chief's.
class SyncReplicasHook : public SessionRunHook {
 public:
  // `optimizer` outlives the hook. `num_tokens` and `report`: see
  // ReplicaSynchronizer::MakeSessionRunHook.
  SyncReplicasHook(ReplicaSynchronizer& optimizer, bool is_chief, int num_tokens = -1,
                   std::function<void(const std::string&)> report = {})
      : optimizer_(optimizer),
        is_chief_(is_chief),
        num_tokens_(num_tokens),
        report_(std::move(report)) {}

  // Adds the ops that the hook runs, and checks that training can make progress.
  absl::Status Begin(Graph& graph) override;
  // Sets the local step. On the chief it also puts the first tokens and starts the queue runner.
  absl::Status AfterCreateSession(Session& session, Coordinator& coordinator) override;
  // Returns this replica's token, except on the chief, and calls `report`.
  absl::Status End(Session& session) override;
  // The record of lost replicas. Null before the first session, on replicas that are not the chief,
  // and if SyncReplicasOptions::watch is not set.
  const LostReplicas* lost() const { return lost_.get(); }

 private:
  absl::Status CheckReady(Session& session) const;
  absl::Status PutFirstTokens(Session& session) const;
  void WatchReplicas();
  void ActOnLostReplicas(Session& session, Coordinator& coordinator);
  absl::Status Resize(Session& session, int replicas, bool one_was_lost,
                      CancellationManager* cancellation) const;
  absl::Status Report(Session& session) const;

  ReplicaSynchronizer& optimizer_;
  const bool is_chief_;
  const int num_tokens_;
  const std::function<void(const std::string&)> report_;
  Operation local_init_;
  Operation forget_undone_tokens_;
  Operation init_tokens_;
  Operation leave_;
  Operation give_tokens_;                              // invalid in deterministic training
  std::optional<ReplicaSynchronizer::Resize> resize_;  // only with OnLostReplica::kShrink
  std::shared_ptr<LostReplicas> lost_;  // null if SyncReplicasOptions::watch is not set
  std::shared_ptr<void> watch_;
  Output ledger_, local_step_, global_step_;
  std::optional<QueueRunner> runner_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SYNC_SYNC_REPLICAS_HOOK_H_
