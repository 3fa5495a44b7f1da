#include "training/sync/replica_synchronizer.h"

#include <algorithm>

#include "graph/build/group.h"
#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/array/builders.h"
#include "ops/control/builders.h"
#include "ops/indexing/builders.h"
#include "ops/math/builders.h"
#include "ops/sugar.h"
#include "training/checkpoint/update_locks.h"
#include "training/summary/summary.h"
#include "training/sync/sync_replicas_hook.h"

namespace sluice {
namespace {

absl::Status NotApplied(std::string_view prefix) {
  return absl::FailedPreconditionError(StrCat(prefix, "hould be called after apply_gradients()."));
}

absl::Status CheckForm(const SyncReplicasOptions& options, bool has_accumulators) {
  const DataType wire = options.wire_dtype;
  SLUICE_INVALID_IF(wire != DT_INVALID && wire != DT_HALF && wire != DT_BFLOAT16, options.name,
                    ": expected wire_dtype to be half or bfloat16, got ", DataTypeName(wire));
  SLUICE_INVALID_IF(!has_accumulators && (wire != DT_INVALID || options.Shrinks()), options.name,
                    ": ", wire != DT_INVALID ? "wire_dtype" : "on_lost_replica = shrink",
                    " is for accumulators of gradients, got queues");
  if (!options.deterministic || !options.Shrinks()) return absl::OkStatus();
  return InvalidArgument(options.name,
                         ": on_lost_replica = shrink is not for deterministic training: when a "
                         "replica is lost would decide");
}

// Returns the ops that output the aggregated gradients.
std::vector<Operation> Sources(const GradientsAndVariables& aggregated) {
  std::vector<Operation> sources;
  for (const GradientAndVariable& gv : aggregated) {
    if (gv.grad.is_none()) continue;
    sources.emplace_back(gv.grad.is_dense() ? gv.grad.dense() : gv.grad.slices().values);
  }
  return sources;
}

}  // namespace

ReplicaSynchronizer::ReplicaSynchronizer(std::unique_ptr<Optimizer> optimizer,
                                         std::unique_ptr<GradientExchange> exchange)
    : Optimizer(exchange->nodes().options.name, exchange->nodes().options.use_locking),
      optimizer_(std::move(optimizer)),
      exchange_(std::move(exchange)),
      tokens_(exchange_->nodes()) {}

absl::StatusOr<GradientsAndVariables> ReplicaSynchronizer::ComputeGradients(
    Output loss, const ComputeGradientsOptions& options) {
  return optimizer_->ComputeGradients(loss, options);
}

absl::Status ReplicaSynchronizer::Check(const GradientsAndVariables& grads_and_vars,
                                        const ApplyGradientsOptions& apply) const {
  SLUICE_INVALID_IF(grads_and_vars.empty(), "Must supply at least one variable");
  SLUICE_INVALID_IF(apply.global_step == nullptr, "Global step is required to check staleness");
  SLUICE_INVALID_IF(options().replicas_to_aggregate < 1 || total_num_replicas() < 1, name(),
                    ": expected at least one replica and one gradient to aggregate, "
                    "got total_num_replicas ",
                    total_num_replicas(), " and replicas_to_aggregate ",
                    options().replicas_to_aggregate, ": no update could ever be made");
  const std::optional<int>& id = options().replica_id;
  SLUICE_INVALID_IF(id && (*id < 0 || *id >= total_num_replicas()), name(),
                    ": expected a replica_id in [0, ", total_num_replicas(), "), got ", *id);
  SLUICE_RETURN_IF_ERROR(CheckForm(options(), exchange_->has_accumulators()));
  if (!options().deterministic) return absl::OkStatus();
  SLUICE_INVALID_IF(!id, name(), ": expected a replica_id for deterministic training");
  SLUICE_INVALID_IF(total_num_replicas() > options().replicas_to_aggregate, name(),
                    ": expected no backup replicas in deterministic training, got ",
                    total_num_replicas(), " replicas of which ", options().replicas_to_aggregate,
                    " are aggregated: which come first would decide");
  return absl::OkStatus();
}

// --- the update

absl::StatusOr<Operation> ReplicaSynchronizer::ApplyGradients(
    const GradientsAndVariables& grads_and_vars, const ApplyGradientsOptions& options) {
  SLUICE_RETURN_IF_ERROR(Check(grads_and_vars, options));
  exchange_->nodes().Begin(*options.global_step);
  local_init_ = exchange_->MakeLocalStep();
  ready_for_local_init_op_ = ReportUninitializedVariables(graph(), GlobalVariables(graph()));
  NameScope root(graph(), "");
  NameScope scope(graph(), name());
  for (const GradientAndVariable& gv : grads_and_vars) {
    aggregated_.push_back({Aggregate(gv), gv.var});
  }
  SLUICE_ASSIGN_OR_RETURN(const Operation train, Synchronize());
  std::vector<Operation> inits = exchange_->ForgetUndone();
  inits.insert(inits.begin(), local_init_);
  if (tokens_.num_tokens()) inits.push_back(tokens_.num_tokens()->initializer());
  chief_init_ = Group(graph(), inits);
  SLUICE_RETURN_IF_ERROR(graph().status());
  applied_ = true;
  return train;
}

Grad ReplicaSynchronizer::Aggregate(const GradientAndVariable& gv) {
  DeviceScope with_variable(graph(), gv.var.device());
  if (gv.grad.is_none()) return gv.grad;
  if (gv.grad.is_dense()) return exchange_->Aggregate(gv.grad.dense(), gv.var);
  return exchange_->Aggregate(gv.grad.slices(), gv.var);
}

// Builds the chief's update and this replica's step. Returns the op of the step.
absl::StatusOr<Operation> ReplicaSynchronizer::Synchronize() {
  const std::string& device = exchange_->nodes().device_of_step();
  Operation update;
  std::optional<Queue> runner_queue;
  {
    DeviceScope with_step(graph(), device);
    NameScope root(graph(), "");
    SLUICE_ASSIGN_OR_RETURN(update, ApplyAggregated());
    tokens_.Make();
    runner_queue = exchange_->MakeRunnerQueue();
  }
  SLUICE_RETURN_IF_ERROR(graph().status());
  const std::vector<Operation> pushes = exchange_->Push();
  SLUICE_RETURN_IF_ERROR(graph().status());
  DeviceScope with_step(graph(), device);
  NameScope root(graph(), "");
  Operation train;
  {
    ControlDependencies after(graph(), pushes);
    train = exchange_->SetLocalStep(tokens_.Take());
  }
  SLUICE_RETURN_IF_ERROR(FinishUpdate(PutTokens(tokens_per_step(), {update})));
  MakeChiefQueueRunner(runner_queue);
  return train;
}

// Applies aggregated_ with the wrapped optimizer, on the device of the global step. With option
// whole_checkpoints, the update acquires its lock here, and FinishUpdate releases it.
absl::StatusOr<Operation> ReplicaSynchronizer::ApplyAggregated() {
  const ApplyGradientsOptions apply = {.global_step = &*global_step()};
  if (!options().whole_checkpoints) return optimizer_->ApplyGradients(aggregated_, apply);
  const std::string shared_name = exchange_->nodes().Numbered(StrCat(name(), "/update_lock"));
  const Output mutex = MutexV2(graph(), {.name = "update_lock", .shared_name = shared_name});
  if (!mutex) return graph().status();
  graph().AddToCollection(kUpdateLocks, mutex.name());
  {
    // An update that waits for gradients must not hold the lock.
    ControlDependencies after(graph(), Sources(aggregated_));
    update_lock_ = MutexLock(mutex, {.name = "hold_update_lock"});
  }
  if (!update_lock_) return graph().status();
  ControlDependencies held(graph(), {Operation(update_lock_)});
  return optimizer_->ApplyGradients(aggregated_, apply);
}

Operation ReplicaSynchronizer::PutTokens(int total, const std::vector<Operation>& after) {
  return tokens_.Put(total, after, [this] { return exchange_->StepForTokens(); });
}

// Adds the update of moving averages, which runs after the tokens are put, and then the release of
// the lock.
absl::Status ReplicaSynchronizer::FinishUpdate(Operation put_tokens) {
  sync_op_ = put_tokens;
  if (options().variable_averages) {
    ControlDependencies after(graph(), {put_tokens});
    NameScope root(graph(), "");
    const std::vector<Variable>& some = options().variables_to_average;
    SLUICE_ASSIGN_OR_RETURN(sync_op_, options().variable_averages.Apply(
                                          some.empty() ? TrainableVariables(graph()) : some));
  }
  if (update_lock_) {
    ControlDependencies after(graph(), {sync_op_});
    sync_op_ = ConsumeMutexLock(update_lock_, {.name = "end_update_lock"});
  }
  return graph().status();
}

void ReplicaSynchronizer::MakeChiefQueueRunner(const std::optional<Queue>& runner_queue) {
  const auto close = [&](bool cancel_pending_enqueues) {
    if (!runner_queue) return tokens_.Close(cancel_pending_enqueues, "");
    // Also closes the token queue. TensorFlow's runner closes only its own queue, so that replicas
    // wait for tokens forever.
    return Group(graph(), {runner_queue->Close(cancel_pending_enqueues),
                           tokens_.Close(cancel_pending_enqueues, "")});
  };
  QueueRunner& runner = chief_queue_runner_;
  runner.queue_name = runner_queue ? runner_queue->name() : token_queue().name();
  runner.enqueue_ops = {sync_op_};
  runner.close_op = close(/*cancel_pending_enqueues=*/false);
  runner.cancel_op = close(/*cancel_pending_enqueues=*/true);
  // A replica that ends may close the token queue while the runner enqueues tokens.
  runner.closed_codes = {absl::StatusCode::kOutOfRange, absl::StatusCode::kCancelled};
  NeedQueueRunner(
      graph(), runner.queue_name,
      StrCat(name(), " can never make an update (ChiefQueueRunner, or the hook of the chief)"));
}

absl::StatusOr<QueueRunner> ReplicaSynchronizer::ChiefQueueRunner() const {
  if (!applied_) return NotApplied("S");
  return chief_queue_runner_;
}

std::shared_ptr<SessionRunHook> ReplicaSynchronizer::MakeSessionRunHook(
    bool is_chief, int num_tokens, std::function<void(const std::string&)> report) {
  return std::make_shared<SyncReplicasHook>(*this, is_chief, num_tokens, std::move(report));
}

// --- tokens

Operation ReplicaSynchronizer::CloseTokensOp() {
  if (close_tokens_ || !applied_) return close_tokens_;
  NameScope root(graph(), "");
  DeviceScope with_step(graph(), global_step()->device());
  return close_tokens_ = tokens_.Close(/*cancel_pending_enqueues=*/true, "close_sync_token_queue");
}

Output ReplicaSynchronizer::TokensClosed() {
  if (tokens_closed_ || !applied_) return tokens_closed_;
  NameScope root(graph(), "");
  DeviceScope with_step(graph(), global_step()->device());
  return tokens_closed_ = token_queue().IsClosed(StrCat(token_queue().name(), "_Is_Closed"));
}

Operation ReplicaSynchronizer::ForgetUndoneTokensOp() {
  if (forget_ || !applied_) return forget_;
  NameScope root(graph(), "");
  NameScope scope(graph(), name());
  DeviceScope with_step(graph(), global_step()->device());
  return forget_ = tokens_.ForgetUndone();
}

Operation ReplicaSynchronizer::LeaveOp() {
  if (leave_ || !applied_) return leave_;
  NameScope root(graph(), "");
  DeviceScope with_step(graph(), global_step()->device());
  if (!options().deterministic && options().when_one_ends == WhenOneEnds::kOthersGoOn) {
    return leave_ = token_queue().Enqueue({exchange_->LocalStep()});
  }
  const std::string id = options().replica_id ? StrCat(*options().replica_id, " ") : "";
  return leave_ = tokens_.Close(
             /*cancel_pending_enqueues=*/true, "leave",
             StrCat(name(), " needs ", options().replicas_to_aggregate,
                    " gradients an update, and ", total_num_replicas() - 1, " of ",
                    total_num_replicas(), " replicas are left: replica ", id, "has ended"));
}

absl::StatusOr<Operation> ReplicaSynchronizer::InitTokensOp(int num_tokens) {
  if (!applied_) return NotApplied("get_init_tokens_op() s");
  const int needed = options().replicas_to_aggregate - total_num_replicas();
  if (num_tokens == -1) {
    num_tokens = options().replicas_to_aggregate;
  } else if (num_tokens < needed) {
    return InvalidArgument("Too few tokens to finish the first step: ", num_tokens, " (given) vs ",
                           needed, " (needed)");
  }
  if (options().deterministic) num_tokens = needed;
  NameScope root(graph(), "");
  Operation init;
  if (num_tokens > 0) {
    DeviceScope with_step(graph(), global_step()->device());
    init = PutTokens(num_tokens, {});
  } else {
    init = NoOp(graph(), {.name = "no_init_tokens"});
  }
  SLUICE_RETURN_IF_ERROR(graph().status());
  return init;
}

Operation ReplicaSynchronizer::GiveTokensOp() {
  if (!applied_) return {};
  NameScope root(graph(), "");
  NameScope scope(graph(), name());
  DeviceScope with_step(graph(), global_step()->device());
  return PutTokens(tokens_per_step(), {});
}

// --- lost replicas

absl::StatusOr<ReplicaSynchronizer::Resize> ReplicaSynchronizer::MakeResize() {
  if (!applied_) return NotApplied("MakeResize() s");
  if (!tokens_.num_tokens()) {
    return absl::FailedPreconditionError("MakeResize() needs the option on_lost_replica = kShrink");
  }
  NameScope root(graph(), "");
  NameScope scope(graph(), name());
  DeviceScope with_step(graph(), global_step()->device());
  Resize resize;
  resize.replicas_to_aggregate =
      Placeholder(graph(), DT_INT32, PartialShape::Scalar(), "update_size");
  resize.tokens = Placeholder(graph(), DT_INT32, PartialShape::Scalar(), "num_tokens");
  // Sets the number of tokens first: if an update needs more gradients than the previous one, more
  // tokens must be put before it.
  ControlDependencies after(graph(), {tokens_.num_tokens()->Assign(resize.tokens)});
  resize.op = Group(graph(), exchange_->SetReplicasToAggregate(resize.replicas_to_aggregate));
  SLUICE_RETURN_IF_ERROR(graph().status());
  return resize;
}

// --- the ledger

Output ReplicaSynchronizer::LedgerTotals() {
  if (!applied_) return {};
  NameScope root(graph(), "");
  NameScope scope(graph(), name());
  return exchange_->nodes().LedgerTotals();
}

Output ReplicaSynchronizer::LedgerUpdates(int num_updates) {
  if (!applied_) return {};
  NameScope root(graph(), "");
  NameScope scope(graph(), name());
  return exchange_->nodes().LedgerUpdates(num_updates);
}

void ReplicaSynchronizer::AddSummaries() {
  const Output totals = LedgerTotals();
  if (!totals) return;
  NameScope root(graph(), "");
  NameScope scope(graph(), name() + "/");  // re-enters the optimizer's scope
  const auto show = [&](Output counts) {
    const std::vector<int64_t> scalar;
    summary::Scalar("applied", Reshape(Slice(counts, {0}, {1}), scalar));
    summary::Scalar("dropped_as_stale", Reshape(Slice(counts, {1}, {1}), scalar));
    summary::Scalar("dropped_as_surplus", Reshape(Slice(counts, {2}, {1}), scalar));
  };
  show(ReduceSum(totals, 0));
  for (int i = 0; i < total_num_replicas(); ++i) {
    NameScope of_replica(graph(), StrCat("replica_", i));
    show(Reshape(Slice(totals, {i, 0}, {1, 3}), {3}));
  }
  summary::Scalar("local_step", LocalStep());
}

std::string LedgerText(const Tensor& totals) {
  const int64_t* counts = totals.data<int64_t>();
  int64_t sums[3] = {};
  for (int64_t i = 0; i < totals.num_elements(); ++i) sums[i % 3] += counts[i];
  std::string text = StrCat(sums[0], " gradients applied, ", sums[1], " dropped as stale, ",
                            sums[2], " dropped as surplus");
  for (int64_t r = 0; r + 1 < totals.dim(0); ++r) {
    const int64_t* n = counts + 3 * r;
    StrAppend(&text, "; replica ", r, ": ", n[0], " applied, ", n[1], " stale, ", n[2], " surplus");
  }
  return text;
}

}  // namespace sluice
