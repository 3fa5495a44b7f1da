// The base class of the optimizers for synchronous training, SyncReplicasOptimizer and
// LegacySyncReplicasOptimizer.
//
// Each replica pushes its gradients to accumulators or queues (gradient_exchange.h). It then waits
// for a token: the permission to compute its next gradient (token_queues.h). The chief's queue
// runner repeats the update. An update takes `replicas_to_aggregate` gradients of each variable and
// applies them with the wrapped optimizer. It then increments the global step and puts the tokens
// of the new step into the token queue.
//
// Thread safety: none; the optimizer belongs to the graph that is being built.
// Ownership: it owns the wrapped optimizer. Its nodes belong to the graph.
// Errors: TensorFlow's, with its texts. Errors of the graph stay in Graph::status.
#ifndef SLUICE_TRAINING_SYNC_REPLICA_SYNCHRONIZER_H_
#define SLUICE_TRAINING_SYNC_REPLICA_SYNCHRONIZER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "training/loop/queue_runner.h"
#include "training/optimizer/optimizer.h"
#include "training/sync/gradient_exchange.h"
#include "training/sync/token_queues.h"

namespace sluice {

class SessionRunHook;  // training/session/session_run_hook.h

class ReplicaSynchronizer : public Optimizer {
 public:
  absl::StatusOr<GradientsAndVariables> ComputeGradients(
      Output loss, const ComputeGradientsOptions& options = {}) override;
  // Returns the train op of this replica, which pushes its gradients and then waits for a token.
  // INVALID_ARGUMENT if there is nothing to apply, options.global_step is null, or options exclude
  // each other.
  absl::StatusOr<Operation> ApplyGradients(const GradientsAndVariables& grads_and_vars,
                                           const ApplyGradientsOptions& options = {}) override;

  // --- running the training

  // The chief's queue runner, whose thread repeats the update. When the runner is cancelled or its
  // queue is closed, replicas that wait for a token end with OUT_OF_RANGE. FAILED_PRECONDITION
  // "Should be called after apply_gradients()." before ApplyGradients.
  absl::StatusOr<QueueRunner> ChiefQueueRunner() const;
  // Returns an op that puts `num_tokens` tokens into the token queue, for the chief to run before
  // the first step. -1: replicas_to_aggregate tokens. In deterministic training, the op puts
  // exactly the tokens that the first update needs, even if `num_tokens` is larger.
  // INVALID_ARGUMENT "Too few tokens to finish the first step: <given> (given) vs <needed>
  // (needed)". FAILED_PRECONDITION before ApplyGradients.
  absl::StatusOr<Operation> InitTokensOp(int num_tokens = -1);
  // Returns a hook that starts the training in a MonitoredSession. It runs LocalInitOp, and on the
  // chief it also puts the first tokens (`num_tokens` as for InitTokensOp) and starts the queue
  // runner. At the end it calls `report` (may be empty): every replica reports its local step and
  // the global step. The chief also reports how many gradients were applied or dropped.
  std::shared_ptr<SessionRunHook> MakeSessionRunHook(
      bool is_chief, int num_tokens = -1, std::function<void(const std::string&)> report = {});
  // The op that every replica runs when it starts, after the variables are initialized. It sets the
  // replica's local step to the global step. The chief's op also drops gradients of updates that a
  // lost chief began but did not finish, or that were undone because an older model was restored.
  Operation LocalInitOp(bool is_chief) const { return is_chief ? chief_init_ : local_init_; }
  // The names of the variables that are not initialized, as a string vector. LocalInitOp may run
  // once this vector is empty.
  Output ready_for_local_init_op() const { return ready_for_local_init_op_; }
  // The op that makes one update. The chief's queue runner repeats it.
  Operation sync_op() const { return sync_op_; }
  // The gradients that the update applies, each the mean or sum over replicas, with their
  // variables.
  const GradientsAndVariables& aggregated_gradients() const { return aggregated_; }

  // --- tokens. Each method adds its op when it is first called, and returns an invalid op before
  // ApplyGradients.

  // The queue from which this replica takes its tokens.
  const Queue& token_queue() const { return tokens_.own(); }
  // All token queues: one that all replicas share, or one per replica in deterministic training.
  const std::vector<Queue>& token_queues() const { return tokens_.queues(); }
  // The op that closes the token queues and cancels pending enqueues. Replicas that wait for a
  // token end with OUT_OF_RANGE once the remaining tokens are taken. The node has the name that it
  // has in the EasyRec framework, "close_sync_token_queue".
  Operation CloseTokensOp();
  // A bool scalar: whether this replica's token queue is closed.
  Output TokensClosed();
  // The op that a starting chief runs after LocalInitOp, before it puts its first tokens. It drops
  // tokens of steps after the global step. These belong to updates that were undone because an
  // older model was restored.
  Operation ForgetUndoneTokensOp();
  // The op that a replica runs when it ends (the hook does this). It puts the replica's token back
  // into the queue, so that another replica computes in its place. With WhenOneEnds::kAllEnd, and
  // in deterministic training, it closes the token queues instead. The other replicas then end with
  // an OUT_OF_RANGE error that states how many gradients an update needs and how many replicas are
  // left.
  Operation LeaveOp();
  // Returns an op that puts the tokens of the current step into the queue again. It is for replicas
  // that wait because other replicas were lost together with their tokens. Each call adds a new op.
  // Not for deterministic training.
  Operation GiveTokensOp();

  // --- progress

  // A scalar: the global step of the parameters that this replica has read. It is never more than
  // the global step. In deterministic training it is at most one less. Without determinism it may
  // be further behind, because a fast replica may take the token of a slow one. The slow one's next
  // gradient is then stale. Invalid before ApplyGradients.
  Output LocalStep() { return applied_ ? exchange_->LocalStep() : Output(); }
  // The ledger, a table that counts all gradients so far: int64 [total_num_replicas + 1, 3]. Row i
  // has the numbers of gradients of replica i that were applied, dropped as stale, and dropped as
  // surplus because the update had enough. The last row counts gradients without a replica_id. Each
  // step of a replica counts one gradient per variable. Invalid before ApplyGradients.
  Output LedgerTotals();
  // The same counts for each of the last `num_updates` updates, oldest first: int64 [num_updates,
  // total_num_replicas + 1, 3].
  Output LedgerUpdates(int num_updates);
  // Adds scalar summaries of the totals: "<name>/applied", "<name>/dropped_as_stale" and
  // "<name>/dropped_as_surplus", where <name> is the optimizer's name. Adds the same three for each
  // replica i below "<name>/replica_<i>/", and this replica's "<name>/local_step".
  void AddSummaries();

  // --- lost replicas (OnLostReplica::kShrink in lost_replicas.h)

  // An op that adapts updates to the number of replicas, and the tensors to feed with it.
  struct Resize {
    Operation op;
    // int32 scalars to feed: the number of gradients per update, and of tokens after an update.
    Output replicas_to_aggregate, tokens;
  };
  // Adds the op and its placeholders. FAILED_PRECONDITION before ApplyGradients, or if
  // on_lost_replica is not kShrink.
  absl::StatusOr<Resize> MakeResize();

  bool gradients_applied() const { return applied_; }
  const SyncReplicasOptions& options() const { return exchange_->nodes().options; }
  int total_num_replicas() const { return options().NumReplicas(); }
  int tokens_per_step() const { return options().TokensPerStep(); }
  const std::optional<Variable>& global_step() const { return exchange_->nodes().global_step(); }

  std::optional<Variable> GetSlot(const Variable& var, std::string_view slot_name) const override {
    return optimizer_->GetSlot(var, slot_name);
  }
  std::vector<std::string> GetSlotNames() const override { return optimizer_->GetSlotNames(); }
  std::vector<Variable> Variables() const override { return optimizer_->Variables(); }

 protected:
  ReplicaSynchronizer(std::unique_ptr<Optimizer> optimizer,
                      std::unique_ptr<GradientExchange> exchange);

 private:
  absl::Status Check(const GradientsAndVariables& grads_and_vars,
                     const ApplyGradientsOptions& options) const;
  Grad Aggregate(const GradientAndVariable& gv);
  absl::StatusOr<Operation> Synchronize();
  absl::StatusOr<Operation> ApplyAggregated();
  Operation PutTokens(int total, const std::vector<Operation>& after);
  absl::Status FinishUpdate(Operation put_tokens);
  void MakeChiefQueueRunner(const std::optional<Queue>& runner_queue);

  Graph& graph() const { return exchange_->nodes().graph(); }

  // Not used: the wrapped optimizer makes the updates.
  Operation ApplyDense(Output, const Variable&) override { return {}; }
  Operation ApplySparse(const IndexedSlices&, const Variable&) override { return {}; }

  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<GradientExchange> exchange_;
  TokenQueues tokens_;  // refers to the exchange's nodes
  GradientsAndVariables aggregated_;
  Output ready_for_local_init_op_;
  Operation local_init_, chief_init_;
  Operation sync_op_;
  Output update_lock_;
  QueueRunner chief_queue_runner_;
  bool applied_ = false;
  // Created when they are first requested.
  Operation close_tokens_, leave_, forget_;
  Output tokens_closed_;
};

// Formats the value of LedgerTotals for people: "6 gradients applied, 1 dropped as stale, 0 dropped
// as surplus; replica 0: 6 applied, …".
std::string LedgerText(const Tensor& totals);

}  // namespace sluice

#endif  // SLUICE_TRAINING_SYNC_REPLICA_SYNCHRONIZER_H_
