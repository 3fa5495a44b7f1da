#include "training/sync/sync_replicas_optimizer.h"

#include <algorithm>

#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/builders/ops.h"
#include "ops/builders/sugar.h"

namespace sluice {
namespace {

// A name for an op and, below it, for its constant arguments: "Fill_1/" and "Fill_1/dims/". A name
// that ends in '/' is taken whole.
std::string OpScope(Graph& graph, std::string_view op) {
  return graph.UniqueName(StrCat(graph.scopes().name, op)) + "/";
}

Output CastToInt64(Output t) { return BaseType(t.dtype()) == DT_INT64 ? t : Cast(t, DT_INT64); }

// The variable's device; "" leaves the scopes around alone.
std::string DeviceOf(const Variable& var) { return var.op().device(); }

absl::Status NotApplied(std::string_view prefix) {
  return absl::FailedPreconditionError(StrCat(prefix, "hould be called after apply_gradients()."));
}

}  // namespace

SyncReplicasOptimizer::SyncReplicasOptimizer(std::unique_ptr<Optimizer> optimizer,
                                             SyncReplicasOptions options)
    : Optimizer(options.name, options.use_locking),
      optimizer_(std::move(optimizer)),
      options_(std::move(options)),
      total_num_replicas_(options_.total_num_replicas.value_or(options_.replicas_to_aggregate)),
      tokens_per_step_(std::max(total_num_replicas_, options_.replicas_to_aggregate)) {}

absl::StatusOr<GradientsAndVariables> SyncReplicasOptimizer::ComputeGradients(
    Output loss, const ComputeGradientsOptions& options) {
  return optimizer_->ComputeGradients(loss, options);
}

absl::StatusOr<Operation> SyncReplicasOptimizer::ApplyGradients(
    const GradientsAndVariables& grads_and_vars, const ApplyGradientsOptions& options) {
  if (grads_and_vars.empty()) return InvalidArgument("Must supply at least one variable");
  if (options.global_step == nullptr) {
    return InvalidArgument("Global step is required to check staleness");
  }
  global_step_ = *options.global_step;
  Graph& graph = global_step_->graph();
  MakeLocalStep(graph, *global_step_);
  {
    NameScope root(graph, "");
    NameScope scope(graph, name());
    for (const GradientAndVariable& gv : grads_and_vars) Aggregate(gv);
    DeviceScope with_step(graph, DeviceOf(*global_step_));
    NameScope unscoped(graph, "");
    SLUICE_ASSIGN_OR_RETURN(
        Operation update,
        optimizer_->ApplyGradients(aggregated_, {.global_step = options.global_step}));
    SLUICE_RETURN_IF_ERROR(MakeTokenQueue(graph, *global_step_));
    const Operation train = WaitForToken(graph);
    const Operation sync = HandOutTokens(graph, tokens_per_step_, *global_step_, {update});
    chief_queue_runner_.queue_name = token_queue_.name();
    chief_queue_runner_.enqueue_ops = {sync};
    chief_queue_runner_.close_op = token_queue_.Close();
    chief_queue_runner_.cancel_op = token_queue_.Close(/*cancel_pending_enqueues=*/true);
    {
      NameScope again(graph, scope.prefix());
      MakeChiefInit(graph, *global_step_);
    }
    SLUICE_RETURN_IF_ERROR(graph.status());
    applied_ = true;
    return train;
  }
}

void SyncReplicasOptimizer::MakeLocalStep(Graph& graph, const Variable& global_step) {
  {
    // The anchor is placed on the replica, whatever a device function does with variables.
    const Operation anchor = NoOp(graph);
    ColocateWith with(graph, anchor);
    const Tensor zero =
        global_step.dtype() == DT_INT32 ? Tensor::Scalar(int32_t{0}) : Tensor::Scalar(int64_t{0});
    local_step_ = Variable(
        graph, "sync_rep_local_step", zero,
        {.trainable = false, .use_resource = false, .collections = {std::string(kLocalVariables)}});
  }
  local_step_init_op_ = local_step_->Assign(global_step);
  ready_for_local_init_op_ = ReportUninitializedVariables(graph, GlobalVariables(graph));
}

void SyncReplicasOptimizer::Aggregate(const GradientAndVariable& gv) {
  DeviceScope with_variable(gv.var.graph(), DeviceOf(gv.var));
  if (gv.grad.is_none()) {
    aggregated_.push_back(gv);
  } else if (gv.grad.is_dense()) {
    aggregated_.push_back({PushDense(gv.grad.dense(), gv.var), gv.var});
  } else {
    aggregated_.push_back({PushSparse(gv.grad.slices(), gv.var), gv.var});
  }
}

Output SyncReplicasOptimizer::PushDense(Output grad, const Variable& var) {
  Graph& graph = var.graph();
  const Output handle = ResourceConditionalAccumulator(
      graph, BaseType(grad.dtype()), var.shape(),
      {.name = "conditional_accumulator", .shared_name = StrCat(var.name(), ":0/grad_accum")});
  accumulators_.push_back({handle, /*is_sparse=*/false, DeviceOf(var)});
  push_ops_.push_back(
      ResourceAccumulatorApplyGradient(handle, CastToInt64(local_step_->Read()), grad));
  const std::string scope = OpScope(graph, "ResourceAccumulatorTakeGradient");
  const Output required =
      Constant(graph, int32_t{options_.replicas_to_aggregate}, scope + "num_required/");
  Output taken =
      ResourceAccumulatorTakeGradient(handle, required, BaseType(grad.dtype()), {.name = scope});
  if (taken) taken.node->set_output_shape(taken.index, var.shape());
  return taken;
}

IndexedSlices SyncReplicasOptimizer::PushSparse(const IndexedSlices& grad, const Variable& var) {
  Graph& graph = var.graph();
  const DataType dtype = BaseType(grad.values.dtype());
  const Output handle =
      SparseConditionalAccumulator(graph, dtype, PartialShape::Scalar(),
                                   {.name = "sparse_conditional_accumulator",
                                    .shared_name = StrCat(var.name(), ":0/grad_accum")});
  accumulators_.push_back({handle, /*is_sparse=*/true, DeviceOf(var)});
  const Output indices = CastToInt64(grad.indices);
  const bool has_shape = static_cast<bool>(grad.dense_shape);
  const Output shape = has_shape ? CastToInt64(grad.dense_shape)
                                 : Constant(graph, Tensor::Vector<int64_t>({}), "shape");
  push_ops_.push_back(SparseAccumulatorApplyGradient(handle, CastToInt64(local_step_->Read()),
                                                     indices, grad.values, shape, has_shape));
  const std::string scope = OpScope(graph, "SparseAccumulatorTakeGradient");
  const Output required =
      Constant(graph, int32_t{options_.replicas_to_aggregate}, scope + "num_required/");
  const SparseAccumulatorTakeGradientOutputs taken =
      SparseAccumulatorTakeGradient(handle, required, dtype, {.name = scope});
  return {.values = taken.values, .indices = taken.indices, .dense_shape = taken.shape};
}

absl::Status SyncReplicasOptimizer::MakeTokenQueue(Graph& graph, const Variable& global_step) {
  // A second optimizer in the graph gets a queue of its own (EasyRec's numbering).
  const int number = static_cast<int>(graph.collections()["sync_token_queues"].size());
  const std::string name = number == 0 ? "sync_token_q" : StrCat("sync_token_q_", number);
  DeviceScope on_cpu(graph, "/device:CPU:*");
  token_queue_ =
      Queue::Fifo(graph, /*capacity=*/-1, {global_step.dtype()},
                  {.shapes = {PartialShape::Scalar()}, .name = name, .shared_name = name});
  graph.AddToCollection("sync_token_queues", name);
  return graph.status();
}

Operation SyncReplicasOptimizer::WaitForToken(Graph& graph) {
  OutputList token;
  {
    ControlDependencies after(graph, push_ops_);
    token = token_queue_.Dequeue();
  }
  return token.empty() ? Operation() : local_step_->Assign(token[0]);
}

Operation SyncReplicasOptimizer::HandOutTokens(Graph& graph, int count, const Variable& global_step,
                                               const std::vector<Operation>& after) {
  ControlDependencies ordered(graph, after);
  const std::string scope = OpScope(graph, "Fill");
  const Output dims = Constant(graph, Tensor::Vector<int32_t>({count}), scope + "dims/");
  const Output tokens = Fill(dims, global_step.Read(), {.name = scope});
  return token_queue_.EnqueueMany({tokens});
}

void SyncReplicasOptimizer::MakeChiefInit(Graph& graph, const Variable& global_step) {
  std::vector<Operation> inits = {local_step_init_op_};
  for (const Accumulator& a : accumulators_) {
    DeviceScope on(graph, a.device);
    const Output step = CastToInt64(global_step.Read());
    if (a.is_sparse) {
      inits.push_back(AccumulatorSetGlobalStep(a.handle, step, {.name = "SetGlobalStep"}));
    } else {
      inits.push_back(ResourceAccumulatorSetGlobalStep(a.handle, step, {.name = "SetGlobalStep"}));
    }
  }
  chief_init_op_ = Group(graph, inits);
}

absl::StatusOr<QueueRunner> SyncReplicasOptimizer::ChiefQueueRunner() const {
  if (!applied_) return NotApplied("S");
  return chief_queue_runner_;
}

absl::StatusOr<Operation> SyncReplicasOptimizer::InitTokensOp(int num_tokens) {
  if (!applied_) return NotApplied("get_init_tokens_op() s");
  const int needed = options_.replicas_to_aggregate - total_num_replicas_;
  if (num_tokens == -1) {
    num_tokens = options_.replicas_to_aggregate;
  } else if (num_tokens < needed) {
    return InvalidArgument("Too few tokens to finish the first step: ", num_tokens, " (given) vs ",
                           needed, " (needed)");
  }
  Graph& graph = global_step_->graph();
  NameScope root(graph, "");
  Operation init;
  if (num_tokens > 0) {
    DeviceScope with_step(graph, DeviceOf(*global_step_));
    init = HandOutTokens(graph, num_tokens, *global_step_, {});
  } else {
    init = NoOp(graph, {.name = "no_init_tokens"});
  }
  SLUICE_RETURN_IF_ERROR(graph.status());
  return init;
}

std::optional<Variable> SyncReplicasOptimizer::GetSlot(const Variable& var,
                                                       std::string_view slot_name) const {
  return optimizer_->GetSlot(var, slot_name);
}
std::vector<std::string> SyncReplicasOptimizer::GetSlotNames() const {
  return optimizer_->GetSlotNames();
}
std::vector<Variable> SyncReplicasOptimizer::Variables() const { return optimizer_->Variables(); }

Operation SyncReplicasOptimizer::ApplyDense(Output, const Variable&) { return {}; }
Operation SyncReplicasOptimizer::ApplySparse(const IndexedSlices&, const Variable&) { return {}; }

}  // namespace sluice
