// What the two forms of synchronous training share: the optimizer inside, the tokens that let
// replicas go on, the ledger of gradients, what the chief starts.
//
// An update takes `replicas_to_aggregate` gradients; then max(replicas_to_aggregate,
// total_num_replicas) tokens, each with the new global step, go into a queue, and a replica goes on
// when it gets one.
//
// Deterministic (the same seeds give the same bits, whatever arrives first and however many threads
// work): each replica has a token queue of its own, so that every update takes the same number of
// gradients from each, and they are added up in the order of the replicas.
//
// Errors: those of TensorFlow, by the same sentences; of the graph, in Graph::status.
#ifndef SLUICE_TRAINING_SYNC_REPLICA_SYNCHRONIZER_H_
#define SLUICE_TRAINING_SYNC_REPLICA_SYNCHRONIZER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/dataflow/queue_handle.h"
#include "training/loop/queue_runner.h"
#include "training/optimizer/optimizer.h"
#include "training/sync/lost_replicas.h"

namespace sluice {

class SessionRunHook;  // training/session/session_run_hook.h

// Anything with `StatusOr<Operation> Apply(const std::vector<Variable>&)`, such as an
// ExponentialMovingAverage; must live until the gradients are applied.
class VariableAverages {
 public:
  VariableAverages() = default;
  template <typename Average>
  VariableAverages(Average* average)  // NOLINT: the average is meant
      : apply_([average](const std::vector<Variable>& v) { return average->Apply(v); }) {}
  explicit operator bool() const { return apply_ != nullptr; }
  absl::StatusOr<Operation> Apply(const std::vector<Variable>& variables) const {
    return apply_(variables);
  }

 private:
  std::function<absl::StatusOr<Operation>(const std::vector<Variable>&)> apply_;
};

// What the others do when one replica has no more data.
enum class WhenOneEnds {
  kOthersGoOn,  // they compute in its place, until the chief ends
  kAllEnd,      // always so in deterministic training
};

struct SyncReplicasOptions {
  int replicas_to_aggregate = 1;
  // More than replicas_to_aggregate: the rest are backups. Fewer: replicas compute several batches
  // an update. Absent: replicas_to_aggregate.
  std::optional<int> total_num_replicas;
  // Whose graph this is, in [0, total_num_replicas): names it in the ledger and in stall reports.
  // The legacy form and deterministic training need it.
  std::optional<int> replica_id;
  // Averages that follow each update, and of what (empty: all trainable variables).
  VariableAverages variable_averages;
  std::vector<Variable> variables_to_average;
  // No backups then: which gradients come first would decide.
  bool deterministic = false;
  WhenOneEnds when_one_ends = WhenOneEnds::kOthersGoOn;
  // DT_BFLOAT16 or DT_HALF: float and double gradients are rounded to it on the replica, travel in
  // half the bytes (double: a quarter), and are added up as what they were. A half ends at 65504:
  // larger values become infinite. For accumulators; DT_INVALID: gradients travel as they are.
  DataType wire_dtype = DT_INVALID;
  // What the chief does when `watch` tells that a replica is lost (lost_replicas.h); without
  // `watch` none ever is. kShrink is for accumulators, and not for deterministic training; with it,
  // tokens that nobody has taken when those of the next step come are taken back.
  OnLostReplica on_lost_replica = OnLostReplica::kWait;
  ReplicaWatch watch;
  // An update holds a lock that Savers take while they read: a checkpoint is of one global step,
  // its averages included, also where replicas go on while it is made. Two ops that TensorFlow has
  // not.
  bool whole_checkpoints = false;
  bool use_locking = false;
  std::string name = "sync_replicas";
};

class ReplicaSynchronizer : public Optimizer {
 public:
  absl::StatusOr<GradientsAndVariables> ComputeGradients(
      Output loss, const ComputeGradientsOptions& options = {}) override;

  // What the chief runs in a thread: aggregate, update, increment, hand out tokens. When it is
  // cancelled or the queue is closed, replicas that wait for a token end with OUT_OF_RANGE.
  // FAILED_PRECONDITION "Should be called after apply_gradients().".
  absl::StatusOr<QueueRunner> ChiefQueueRunner() const;
  // Fills the token queue before the first step; -1 = replicas_to_aggregate tokens.
  // INVALID_ARGUMENT "Too few tokens to finish the first step: <given> (given) vs <needed>
  // (needed)". Deterministic: exactly those that are needed, whatever is asked for.
  absl::StatusOr<Operation> InitTokensOp(int num_tokens = -1);
  // Starts all of this in a MonitoredSession; of the chief with its queue runner and first tokens.
  // `report` (may be empty) is told at the end: by every replica its local and the global step, by
  // the chief where all gradients went.
  std::shared_ptr<SessionRunHook> MakeSessionRunHook(
      bool is_chief, int num_tokens = -1, std::function<void(const std::string&)> report = {});

  // Run by every replica after the variables are initialised, whenever it starts: its local step is
  // the global one. Of the chief also: updates that a lost chief began and never made, or that are
  // undone because an older model was restored, leave nothing behind.
  virtual Operation LocalInitOp(bool is_chief) const = 0;
  // A string vector: the variables that are not initialised yet; local init may run when empty.
  Output ready_for_local_init_op() const { return ready_for_local_init_op_; }
  // The update of one step, which the chief's queue runner repeats.
  Operation sync_op() const { return sync_op_; }
  // The aggregated gradients that the update applies, as (gradient, variable).
  const GradientsAndVariables& aggregated_gradients() const { return aggregated_; }

  // The queue that this replica takes its tokens from; of all replicas unless deterministic.
  const Queue& token_queue() const;
  // One, or one a replica.
  const std::vector<Queue>& token_queues() const { return token_queues_; }
  // Closes the token queues and cancels what waits to be put in: replicas that wait end with
  // OUT_OF_RANGE once the tokens that are left are taken. Made at the first call (EasyRec's
  // "close_sync_token_queue").
  Operation CloseTokensOp();
  // A bool scalar: is the token queue closed?
  Output TokensClosed();
  // What a chief that starts runs behind LocalInitOp, before its first tokens: tokens of later
  // steps than the global one go, which are of updates that were undone. Made at the first call.
  Operation ForgetUndoneTokensOp();
  // What a replica that ends runs (the hook does): it gives back the token that it holds, so that
  // another can compute in its place and nobody waits for ever. Where all are to end with it they
  // do so with OUT_OF_RANGE, which says what an update needs and how many replicas are left.
  Operation LeaveOp();

  // The step that this replica's parameters are from: never ahead of the global step, and in
  // deterministic training at most one behind it. (Elsewhere a fast replica may compute in the
  // place of a slow one, whose next gradient is then stale.)
  Output LocalStep() { return applied_ ? LocalStepValue() : Output(); }

  // The ledger (S6), fetchable. int64 [total_num_replicas + 1, 3]: gradients applied, dropped as
  // stale, dropped as surplus of each replica, last of those without a replica_id. A replica's step
  // counts one a variable.
  Output LedgerTotals();
  // The same of the last `num_updates` updates, oldest first: int64 [num_updates,
  // total_num_replicas + 1, 3].
  Output LedgerUpdates(int num_updates);
  // Both as scalar summaries of the graph: "sync_replicas/applied", …/dropped_as_stale,
  // …/dropped_as_surplus, the same below …/replica_<i>, and …/local_step.
  void AddSummaries();

  // Puts in as many tokens of the current step as follow an update: for replicas that wait for
  // those that were lost. Not for deterministic training.
  Operation GiveTokensOp();
  // Makes updates fit the replicas that are there. With kShrink.
  struct Resize {
    Operation op;
    Output gradients, tokens;  // int32 scalars, fed: of an update, and that follow it
  };
  absl::StatusOr<Resize> MakeResize();
  // What an update takes of so many replicas: as many batches each, or no backups.
  int GradientsOf(int replicas) const;

  bool gradients_applied() const { return applied_; }
  OnLostReplica on_lost_replica() const { return options_.on_lost_replica; }
  const ReplicaWatch& watch() const { return options_.watch; }
  bool deterministic() const { return options_.deterministic; }
  int replicas_to_aggregate() const { return options_.replicas_to_aggregate; }
  int total_num_replicas() const { return total_num_replicas_; }
  int tokens_per_step() const { return tokens_per_step_; }
  const std::optional<Variable>& global_step() const { return global_step_; }

  std::optional<Variable> GetSlot(const Variable& var, std::string_view slot_name) const override;
  std::vector<std::string> GetSlotNames() const override;
  std::vector<Variable> Variables() const override;

 protected:
  ReplicaSynchronizer(std::unique_ptr<Optimizer> optimizer, SyncReplicasOptions options);

  // The step that this replica's next gradient will be of: a scalar of the global step's type.
  virtual Output LocalStepValue() = 0;
  // Gradients meet in accumulators, not in queues.
  virtual bool has_accumulators() const { return false; }
  // Ops that tell each accumulator how many gradients an update takes.
  virtual std::vector<Operation> SetUpdateSize(Output gradients) { return {}; }
  bool shrinks() const { return options_.on_lost_replica == OnLostReplica::kShrink; }
  // How many tokens follow an update: a variable that only the chief writes. With kShrink.
  const std::optional<Variable>& num_tokens() const { return num_tokens_; }

  // INVALID_ARGUMENT where nothing is to be applied, or the options cannot go together.
  absl::Status Check(const GradientsAndVariables& grads_and_vars,
                     const ApplyGradientsOptions& options) const;
  absl::Status CheckWire() const;
  absl::Status CheckShrinks() const;
  // A training loop of this graph must run the update.
  void SetChiefQueueRunner(QueueRunner runner);
  // A number for this optimizer's shared names in the graph: 0, 1, ….
  void Begin(const Variable& global_step);
  // The optimizer inside applies aggregated_, on the device of the global step, and from now on
  // holds the lock of updates, if there is one.
  absl::StatusOr<Operation> ApplyAggregated();
  void MakeTokenQueues();
  // The token for this replica's next step: a scalar.
  Output TakeToken();
  // The global step as tokens are filled with it.
  virtual Output StepForTokens() const { return global_step_->Read(); }
  // Puts tokens of the current step into the queues, after `after`; `total` for all replicas.
  Operation PutTokens(int total, const std::vector<Operation>& after);
  // Averages after the tokens, then the lock's end, and this is the step of the chief.
  absl::Status FinishSync(Operation put_tokens);
  Operation CloseTokens(bool cancel_pending_enqueues, std::string_view name,
                        const std::string& reason = "");

  // Tells a queue that a chief starts at the global step.
  Operation TellGlobalStep(const Queue& queue);

  // What an accumulator or a queue of gradients of `var` is called; a further optimizer of the same
  // variable has its own.
  std::string SharedName(const Variable& var, std::string_view suffix);
  // Tells the node that makes an accumulator or a queue of gradients about replicas.
  void TellOfReplicas(Node* node);
  // Tells the node that adds a gradient whose it is.
  void TellReplica(Node* node) const;
  // A handle of the ledger on `device`.
  Output Ledger(const std::string& device);

  Graph& graph() const { return global_step_->graph(); }
  const SyncReplicasOptions& options() const { return options_; }
  int replica_id() const { return options_.replica_id.value_or(-1); }
  // In "sync_token_q_1": "_1"; "" of the first optimizer.
  std::string NumberSuffix() const;

  Operation ApplyDense(Output grad, const Variable& var) override;
  Operation ApplySparse(const IndexedSlices& grad, const Variable& var) override;

  std::optional<Variable> global_step_;
  GradientsAndVariables aggregated_;
  Output ready_for_local_init_op_;
  QueueRunner chief_queue_runner_;
  bool applied_ = false;

 private:
  std::vector<Operation> Takes() const;
  // Of `total`, for each token queue.
  std::vector<int> Shares(int total) const;
  void EntersOn(const std::string& device);
  Output SumOverDevices(const std::function<Output(Output handle)>& read, std::string_view name);

  std::unique_ptr<Optimizer> optimizer_;
  SyncReplicasOptions options_;
  int total_num_replicas_;
  int tokens_per_step_;
  int number_ = 0;
  std::vector<Queue> token_queues_;
  std::optional<Variable> num_tokens_;
  std::vector<std::string> ledger_devices_;  // where gradients are entered
  Operation sync_op_;
  Output update_lock_;
  Operation close_tokens_;
  Operation leave_;
  Operation forget_;
  Output tokens_closed_;
};

// "6 applied, 1 stale, 0 surplus" of LedgerTotals' value: all, then each replica.
std::string LedgerText(const Tensor& totals);

}  // namespace sluice

#endif  // SLUICE_TRAINING_SYNC_REPLICA_SYNCHRONIZER_H_
