#include "training/sync/replica_synchronizer.h"

#include <algorithm>

#include "graph/build/group.h"
#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/array/builders.h"
#include "ops/control/builders.h"
#include "ops/indexing/builders.h"
#include "ops/math/builders.h"
#include "ops/sugar.h"
#include "training/checkpoint/update_locks.h"
#include "training/summary/summary.h"
#include "training/sync/check_progress.h"
#include "training/sync/scopes.h"
#include "training/sync/sync_replicas_hook.h"

namespace sluice {
namespace {

// Collections that tell optimizers of one graph of each other.
constexpr char kTokenQueues[] = "sync_token_queues";
constexpr char kGradientNames[] = "sync_gradient_names";

absl::Status NotApplied(std::string_view prefix) {
  return absl::FailedPreconditionError(StrCat(prefix, "hould be called after apply_gradients()."));
}

Operation AsOne(Graph& graph, const std::vector<Operation>& ops) {
  return ops.size() == 1 ? ops[0] : Group(graph, ops);
}

}  // namespace

std::string OpScope(Graph& graph, std::string_view op) {
  return graph.UniqueName(StrCat(graph.scopes().name, op)) + "/";
}

Output CastTo64(Output t) { return BaseType(t.dtype()) == DT_INT64 ? t : Cast(t, DT_INT64); }

ReplicaSynchronizer::ReplicaSynchronizer(std::unique_ptr<Optimizer> optimizer,
                                         SyncReplicasOptions options)
    : Optimizer(options.name, options.use_locking),
      optimizer_(std::move(optimizer)),
      options_(std::move(options)),
      total_num_replicas_(options_.total_num_replicas.value_or(options_.replicas_to_aggregate)),
      tokens_per_step_(std::max(total_num_replicas_, options_.replicas_to_aggregate)) {}

absl::StatusOr<GradientsAndVariables> ReplicaSynchronizer::ComputeGradients(
    Output loss, const ComputeGradientsOptions& options) {
  return optimizer_->ComputeGradients(loss, options);
}

absl::Status ReplicaSynchronizer::CheckWire() const {
  const DataType wire = options_.wire_dtype;
  if (wire != DT_HALF && wire != DT_BFLOAT16) {
    return InvalidArgument(name(), ": expected wire_dtype to be half or bfloat16, got ",
                           DataTypeName(wire));
  }
  if (has_accumulators()) return absl::OkStatus();
  return InvalidArgument(name(), ": wire_dtype is for accumulators of gradients, got queues");
}

absl::Status ReplicaSynchronizer::CheckShrinks() const {
  if (!has_accumulators()) {
    return InvalidArgument(name(),
                           ": on_lost_replica = shrink is for accumulators of gradients, got "
                           "queues");
  }
  if (!options_.deterministic) return absl::OkStatus();
  return InvalidArgument(name(),
                         ": on_lost_replica = shrink is not for deterministic training: when a "
                         "replica is lost would decide");
}

absl::Status ReplicaSynchronizer::Check(const GradientsAndVariables& grads_and_vars,
                                        const ApplyGradientsOptions& options) const {
  if (grads_and_vars.empty()) return InvalidArgument("Must supply at least one variable");
  if (options.global_step == nullptr) {
    return InvalidArgument("Global step is required to check staleness");
  }
  if (options_.replicas_to_aggregate < 1 || total_num_replicas_ < 1) {
    return InvalidArgument(name(),
                           ": expected at least one replica and one gradient to aggregate, "
                           "got total_num_replicas ",
                           total_num_replicas_, " and replicas_to_aggregate ",
                           options_.replicas_to_aggregate, ": no update could ever be made");
  }
  const std::optional<int>& id = options_.replica_id;
  if (id && (*id < 0 || *id >= total_num_replicas_)) {
    return InvalidArgument(name(), ": expected a replica_id in [0, ", total_num_replicas_,
                           "), got ", *id);
  }
  if (options_.wire_dtype != DT_INVALID) SLUICE_RETURN_IF_ERROR(CheckWire());
  if (shrinks()) SLUICE_RETURN_IF_ERROR(CheckShrinks());
  if (!options_.deterministic) return absl::OkStatus();
  if (!id) return InvalidArgument(name(), ": expected a replica_id for deterministic training");
  if (total_num_replicas_ > options_.replicas_to_aggregate) {
    return InvalidArgument(name(), ": expected no backup replicas in deterministic training, got ",
                           total_num_replicas_, " replicas of which ",
                           options_.replicas_to_aggregate,
                           " are aggregated: which come first would decide");
  }
  return absl::OkStatus();
}

std::string ReplicaSynchronizer::NumberSuffix() const {
  return number_ == 0 ? "" : StrCat("_", number_);
}

void ReplicaSynchronizer::Begin(const Variable& global_step) {
  global_step_ = global_step;
  number_ = static_cast<int>(graph().collections()[kTokenQueues].size());
  graph().AddToCollection(kTokenQueues, "sync_token_q" + NumberSuffix());
}

absl::StatusOr<Operation> ReplicaSynchronizer::ApplyAggregated() {
  if (!options_.whole_checkpoints) {
    return optimizer_->ApplyGradients(aggregated_, {.global_step = &*global_step_});
  }
  NodeBuilder mutex(&graph(), "MutexV2", At::current());
  const std::string shared_name = StrCat(name(), "/update_lock", NumberSuffix());
  const Output handle(mutex.Name("update_lock").Attr("shared_name", shared_name).Finish());
  if (!handle) return graph().status();
  graph().AddToCollection(kUpdateLocks, handle.name());
  {
    // Not before all gradients are there: who waits for one holds no lock.
    ControlDependencies after(graph(), Takes());
    update_lock_ = Output(NodeBuilder(&graph(), "MutexLock", At::current())
                              .Name("hold_update_lock")
                              .Input(handle)
                              .Finish());
  }
  if (!update_lock_) return graph().status();
  ControlDependencies held(graph(), {Operation(update_lock_)});
  return optimizer_->ApplyGradients(aggregated_, {.global_step = &*global_step_});
}

// The ops that give the aggregated gradients.
std::vector<Operation> ReplicaSynchronizer::Takes() const {
  std::vector<Operation> takes;
  for (const GradientAndVariable& gv : aggregated_) {
    if (gv.grad.is_none()) continue;
    takes.emplace_back(gv.grad.is_dense() ? gv.grad.dense() : gv.grad.slices().values);
  }
  return takes;
}

// --- gradients

std::string ReplicaSynchronizer::SharedName(const Variable& var, std::string_view suffix) {
  const std::string shared_name = StrCat(var.name(), ":0", suffix);
  std::vector<std::string>& taken = graph().collections()[kGradientNames];
  const auto times = std::count(taken.begin(), taken.end(), shared_name);
  taken.push_back(shared_name);
  return times == 0 ? shared_name : StrCat(shared_name, "_", times);
}

void ReplicaSynchronizer::TellOfReplicas(Node* node) {
  if (node == nullptr) return;
  node->SetAttr("_replicas", int64_t{total_num_replicas_});
  node->SetAttr("_gradients", int64_t{options_.replicas_to_aggregate});
  if (options_.deterministic) node->SetAttr("_in_replica_order", true);
  node->SetAttr("_ledger", StrCat(name(), "/ledger", NumberSuffix()));
  EntersOn(node->device());
}

void ReplicaSynchronizer::EntersOn(const std::string& device) {
  if (std::find(ledger_devices_.begin(), ledger_devices_.end(), device) == ledger_devices_.end()) {
    ledger_devices_.push_back(device);
  }
}

void ReplicaSynchronizer::TellReplica(Node* node) const {
  if (node != nullptr && options_.replica_id) {
    node->SetAttr("_replica", int64_t{*options_.replica_id});
  }
}

// --- tokens

void ReplicaSynchronizer::MakeTokenQueues() {
  // A second optimizer in the graph gets queues of its own (EasyRec's numbering).
  const std::string queue = "sync_token_q" + NumberSuffix();
  DeviceScope on_cpu(graph(), "/device:CPU:*");
  for (int i = 0; i < (options_.deterministic ? total_num_replicas_ : 1); ++i) {
    const std::string unique = options_.deterministic ? StrCat(queue, "_of_replica_", i) : queue;
    token_queues_.push_back(
        Queue::Fifo(graph(), /*capacity=*/-1, {global_step_->dtype()},
                    {.shapes = {PartialShape::Scalar()}, .name = unique, .shared_name = unique}));
  }
  if (!shrinks()) return;
  // Neither saved nor a replica's own: in a collection that nobody else looks into.
  num_tokens_ = Variable(
      graph(), "sync_num_tokens" + NumberSuffix(), Tensor::Scalar(int32_t{tokens_per_step_}),
      {.trainable = false, .use_resource = true, .collections = {"sync_num_tokens"}});
}

const Queue& ReplicaSynchronizer::token_queue() const {
  static const Queue* none = new Queue;
  if (token_queues_.empty()) return *none;
  return token_queues_[options_.deterministic ? replica_id() : 0];
}

Output ReplicaSynchronizer::TakeToken() {
  const OutputList token = token_queue().Dequeue();
  return token.empty() ? Output() : token[0];
}

std::vector<int> ReplicaSynchronizer::Shares(int total) const {
  const int queues = static_cast<int>(token_queues_.size());
  std::vector<int> shares(queues, total / queues);
  for (int i = 0; i < total % queues; ++i) ++shares[i];
  return shares;
}

Operation ReplicaSynchronizer::PutTokens(int total, const std::vector<Operation>& after) {
  ControlDependencies ordered(graph(), after);
  const std::vector<int> shares = Shares(total);
  std::vector<Operation> puts;
  for (size_t i = 0; i < token_queues_.size(); ++i) {
    if (shares[i] == 0) continue;
    const std::string scope = OpScope(graph(), "Fill");
    // Of kShrink there is one queue: it is not for deterministic training.
    const bool of_variable = num_tokens_ && !after.empty();
    const Output dims =
        of_variable ? Reshape(num_tokens_->Read(), {1}, {.name = scope + "dims/"})
                    : Constant(graph(), Tensor::Vector<int32_t>({shares[i]}), scope + "dims/");
    const Output tokens = Fill(dims, StepForTokens(), {.name = scope});
    puts.push_back(token_queues_[i].EnqueueMany({tokens}));
    if (!of_variable || !puts.back()) continue;
    puts.back().node->SetAttr("_replaces", true);
    puts.back().node->SetAttr(kTokensAttr, int64_t{shares[i]});
  }
  return AsOne(graph(), puts);
}

absl::Status ReplicaSynchronizer::FinishSync(Operation put_tokens) {
  sync_op_ = put_tokens;
  if (options_.variable_averages) {
    ControlDependencies after(graph(), {put_tokens});
    NameScope root(graph(), "");
    const std::vector<Variable>& some = options_.variables_to_average;
    SLUICE_ASSIGN_OR_RETURN(sync_op_, options_.variable_averages.Apply(
                                          some.empty() ? TrainableVariables(graph()) : some));
  }
  if (update_lock_) {
    ControlDependencies after(graph(), {sync_op_});
    sync_op_ = NodeBuilder(&graph(), "ConsumeMutexLock", At::current())
                   .Name("end_update_lock")
                   .Input(update_lock_)
                   .Finish();
  }
  return graph().status();
}

Operation ReplicaSynchronizer::CloseTokens(bool cancel_pending_enqueues, std::string_view name,
                                           const std::string& reason) {
  std::vector<Operation> closes;
  for (const Queue& queue : token_queues_) {
    closes.push_back(queue.Close(cancel_pending_enqueues, name));
    if (closes.back() && !reason.empty()) closes.back().node->SetAttr("_reason", reason);
  }
  return AsOne(graph(), closes);
}

Operation ReplicaSynchronizer::CloseTokensOp() {
  if (close_tokens_ || !applied_) return close_tokens_;
  NameScope root(graph(), "");
  DeviceScope with_step(graph(), DeviceOf(*global_step_));
  close_tokens_ = CloseTokens(/*cancel_pending_enqueues=*/true, "close_sync_token_queue");
  return close_tokens_;
}

Output ReplicaSynchronizer::TokensClosed() {
  if (tokens_closed_ || !applied_) return tokens_closed_;
  NameScope root(graph(), "");
  DeviceScope with_step(graph(), DeviceOf(*global_step_));
  tokens_closed_ = token_queue().IsClosed(StrCat(token_queue().name(), "_Is_Closed"));
  return tokens_closed_;
}

Operation ReplicaSynchronizer::TellGlobalStep(const Queue& queue) {
  return NodeBuilder(&graph(), "QueueSetGlobalStep", At::current())
      .Name("SetGlobalStep")
      .Input(queue.handle())
      .Input(CastTo64(global_step_->Read()))
      .Finish();
}

Operation ReplicaSynchronizer::ForgetUndoneTokensOp() {
  if (forget_ || !applied_) return forget_;
  NameScope root(graph(), "");
  NameScope scope(graph(), name());
  DeviceScope with_step(graph(), DeviceOf(*global_step_));
  std::vector<Operation> told;
  for (const Queue& queue : token_queues_) told.push_back(TellGlobalStep(queue));
  return forget_ = AsOne(graph(), told);
}

Operation ReplicaSynchronizer::LeaveOp() {
  if (leave_ || !applied_) return leave_;
  NameScope root(graph(), "");
  DeviceScope with_step(graph(), DeviceOf(*global_step_));
  if (options_.deterministic || options_.when_one_ends == WhenOneEnds::kAllEnd) {
    return leave_ = CloseTokens(
               /*cancel_pending_enqueues=*/true, "leave",
               StrCat(name(), " needs ", replicas_to_aggregate(), " gradients an update, and ",
                      total_num_replicas() - 1, " of ", total_num_replicas(),
                      " replicas are left: replica ",
                      replica_id() < 0 ? "" : StrCat(replica_id(), " "), "has ended"));
  }
  return leave_ = token_queue().Enqueue({LocalStepValue()});
}

absl::StatusOr<Operation> ReplicaSynchronizer::InitTokensOp(int num_tokens) {
  if (!applied_) return NotApplied("get_init_tokens_op() s");
  const int needed = options_.replicas_to_aggregate - total_num_replicas_;
  if (num_tokens == -1) {
    num_tokens = options_.replicas_to_aggregate;
  } else if (num_tokens < needed) {
    return InvalidArgument("Too few tokens to finish the first step: ", num_tokens, " (given) vs ",
                           needed, " (needed)");
  }
  NameScope root(graph(), "");
  Operation init;
  if (options_.deterministic) num_tokens = needed;
  if (num_tokens > 0) {
    DeviceScope with_step(graph(), DeviceOf(*global_step_));
    init = PutTokens(num_tokens, {});
  } else {
    init = NoOp(graph(), {.name = "no_init_tokens"});
  }
  SLUICE_RETURN_IF_ERROR(graph().status());
  return init;
}

// --- replicas that are lost

Operation ReplicaSynchronizer::GiveTokensOp() {
  NameScope root(graph(), "");
  NameScope scope(graph(), name());
  DeviceScope with_step(graph(), DeviceOf(*global_step_));
  return PutTokens(tokens_per_step_, {});
}

int ReplicaSynchronizer::GradientsOf(int replicas) const {
  const int all = options_.replicas_to_aggregate;
  const int fit =
      all <= total_num_replicas_ ? std::min(all, replicas) : all * replicas / total_num_replicas_;
  return std::max(fit, 1);
}

absl::StatusOr<ReplicaSynchronizer::Resize> ReplicaSynchronizer::MakeResize() {
  NameScope root(graph(), "");
  NameScope scope(graph(), name());
  DeviceScope with_step(graph(), DeviceOf(*global_step_));
  Resize resize;
  resize.gradients = Placeholder(graph(), DT_INT32, PartialShape::Scalar(), "update_size");
  resize.tokens = Placeholder(graph(), DT_INT32, PartialShape::Scalar(), "num_tokens");
  // Tokens first: an update that needs more gradients than the one before comes after more tokens.
  ControlDependencies after(graph(), {num_tokens_->Assign(resize.tokens)});
  resize.op = Group(graph(), SetUpdateSize(resize.gradients));
  SLUICE_RETURN_IF_ERROR(graph().status());
  return resize;
}

void ReplicaSynchronizer::SetChiefQueueRunner(QueueRunner runner) {
  NeedQueueRunner(
      graph(), runner.queue_name,
      StrCat(name(), " can never make an update (ChiefQueueRunner, or the hook of the chief)"));
  // A replica that ends may close the queue under the tokens that are being put in.
  runner.closed_codes = {absl::StatusCode::kOutOfRange, absl::StatusCode::kCancelled};
  chief_queue_runner_ = std::move(runner);
}

absl::StatusOr<QueueRunner> ReplicaSynchronizer::ChiefQueueRunner() const {
  if (!applied_) return NotApplied("S");
  return chief_queue_runner_;
}

std::shared_ptr<SessionRunHook> ReplicaSynchronizer::MakeSessionRunHook(
    bool is_chief, int num_tokens, std::function<void(const std::string&)> report) {
  return std::make_shared<SyncReplicasHook>(*this, is_chief, num_tokens, std::move(report));
}

// --- the ledger

Output ReplicaSynchronizer::Ledger(const std::string& device) {
  EntersOn(device);
  DeviceScope on(graph(), device);
  return Output(NodeBuilder(&graph(), "GradientLedger", At::current())
                    .Name("gradient_ledger")
                    .Attr("num_replicas", int64_t{total_num_replicas_})
                    .Attr("shared_name", StrCat(name(), "/ledger", NumberSuffix()))
                    .Finish());
}

Output ReplicaSynchronizer::SumOverDevices(const std::function<Output(Output handle)>& read,
                                           std::string_view name) {
  OutputList parts;
  for (const std::string& device : std::vector<std::string>(ledger_devices_)) {
    const Output ledger = Ledger(device);
    DeviceScope on(graph(), device);
    parts.push_back(read(ledger));
  }
  if (parts.empty()) return {};
  return parts.size() == 1 ? parts[0] : AddN(parts, {.name = name});
}

Output ReplicaSynchronizer::LedgerTotals() {
  if (!applied_) return {};
  NameScope root(graph(), "");
  NameScope scope(graph(), name());
  return SumOverDevices(
      [this](Output handle) {
        return Output(NodeBuilder(&graph(), "GradientLedgerTotals", At::current())
                          .Name("ledger_totals")
                          .Input(handle)
                          .Finish());
      },
      "ledger_sum");
}

Output ReplicaSynchronizer::LedgerUpdates(int num_updates) {
  if (!applied_) return {};
  NameScope root(graph(), "");
  NameScope scope(graph(), name());
  const Output first =
      CastTo64(global_step_->Read()) - Constant(graph(), int64_t{num_updates}, "num_updates");
  return SumOverDevices(
      [&](Output handle) {
        return Output(NodeBuilder(&graph(), "GradientLedgerUpdates", At::current())
                          .Name("ledger_updates")
                          .Input(handle)
                          .Input(first)
                          .Attr("num_updates", int64_t{num_updates})
                          .Finish());
      },
      "ledger_sum");
}

void ReplicaSynchronizer::AddSummaries() {
  const Output totals = LedgerTotals();
  if (!totals) return;
  NameScope root(graph(), "");
  NameScope scope(graph(), name() + "/");  // the optimizer's own, not one more
  const auto show = [&](Output counts) {
    const std::vector<int64_t> scalar;
    summary::Scalar("applied", Reshape(Slice(counts, {0}, {1}), scalar));
    summary::Scalar("dropped_as_stale", Reshape(Slice(counts, {1}, {1}), scalar));
    summary::Scalar("dropped_as_surplus", Reshape(Slice(counts, {2}, {1}), scalar));
  };
  show(ReduceSum(totals, 0));
  for (int i = 0; i < total_num_replicas_; ++i) {
    NameScope of_replica(graph(), StrCat("replica_", i));
    show(Reshape(Slice(totals, {i, 0}, {1, 3}), {3}));
  }
  summary::Scalar("local_step", LocalStep());
}

std::string LedgerText(const Tensor& totals) {
  const auto row = [&](int64_t r) {
    const int64_t* n = totals.data<int64_t>() + 3 * r;
    return StrCat(n[0], " applied, ", n[1], " stale, ", n[2], " surplus");
  };
  int64_t sums[3] = {};
  for (int64_t i = 0; i < totals.num_elements(); ++i) sums[i % 3] += totals.data<int64_t>()[i];
  std::string text = StrCat(sums[0], " gradients applied, ", sums[1], " dropped as stale, ",
                            sums[2], " dropped as surplus");
  for (int64_t r = 0; r + 1 < totals.dim(0); ++r) StrAppend(&text, "; replica ", r, ": ", row(r));
  return text;
}

// --- the optimizer inside

std::optional<Variable> ReplicaSynchronizer::GetSlot(const Variable& var,
                                                     std::string_view slot_name) const {
  return optimizer_->GetSlot(var, slot_name);
}
std::vector<std::string> ReplicaSynchronizer::GetSlotNames() const {
  return optimizer_->GetSlotNames();
}
std::vector<Variable> ReplicaSynchronizer::Variables() const { return optimizer_->Variables(); }

// Never called: the optimizer inside makes the updates.
Operation ReplicaSynchronizer::ApplyDense(Output, const Variable&) { return {}; }
Operation ReplicaSynchronizer::ApplySparse(const IndexedSlices&, const Variable&) { return {}; }

}  // namespace sluice
