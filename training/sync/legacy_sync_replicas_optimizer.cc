#include "training/sync/legacy_sync_replicas_optimizer.h"

#include "graph/build/cond.h"
#include "graph/build/group.h"
#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/array/builders.h"
#include "ops/control/builders.h"
#include "ops/indexing/builders.h"
#include "ops/math/builders.h"
#include "ops/sugar.h"
#include "training/sync/scopes.h"

namespace sluice {
namespace {

SyncReplicasOptions WithReplica(SyncReplicasOptions options) {
  if (!options.replica_id) options.replica_id = 0;
  return options;
}

}  // namespace

LegacySyncReplicasOptimizer::LegacySyncReplicasOptimizer(std::unique_ptr<Optimizer> optimizer,
                                                         SyncReplicasOptions options)
    : ReplicaSynchronizer(std::move(optimizer), WithReplica(std::move(options))) {}

absl::StatusOr<Operation> LegacySyncReplicasOptimizer::ApplyGradients(
    const GradientsAndVariables& grads_and_vars, const ApplyGradientsOptions& options) {
  SLUICE_RETURN_IF_ERROR(Check(grads_and_vars, options));
  Begin(*options.global_step);
  MakeLocalSteps();
  NameScope root(graph(), "");
  NameScope scope(graph(), name());
  for (const GradientAndVariable& gv : grads_and_vars) Aggregate(gv);
  SLUICE_ASSIGN_OR_RETURN(const Operation train, Synchronize());
  MakeChiefInit();
  SLUICE_RETURN_IF_ERROR(graph().status());
  applied_ = true;
  return train;
}

void LegacySyncReplicasOptimizer::MakeLocalSteps() {
  const Variable& global_step = *global_step_;
  {
    DeviceScope with_step(graph(), DeviceOf(global_step));
    local_steps_ = Variable(graph(), "local_steps",
                            Zeros(graph(), {total_num_replicas()}, global_step.dtype()),
                            {.trainable = false, .use_resource = false});
  }
  replica_ = Constant(graph(), int32_t{replica_id()}, "sync_replica_id");
  local_step_ = LocalStepValue();
  is_stale_ = Less(local_step_, global_step.Read());
  {
    // What a checkpoint has is the step of parameters that the replica no longer has.
    DeviceScope with_step(graph(), DeviceOf(global_step));
    local_init_op_ =
        local_steps_->ScatterUpdate(replica_, global_step.Read(), {.name = "local_step_init"});
  }
  ready_for_local_init_op_ = ReportUninitializedVariables(graph(), GlobalVariables(graph()));
}

Output LegacySyncReplicasOptimizer::LocalStepValue() {
  if (!local_steps_) return {};
  const Output one = Constant(graph(), Tensor::Vector<int32_t>({1}), "one");
  // Of the reference: the Identity that all reads share may have run before the last update.
  const Output row =
      Slice(local_steps_->Ref(), Reshape(replica_, {1}), one, {.name = "get_local_step"});
  return Reshape(row, std::vector<int64_t>{});
}

Output LegacySyncReplicasOptimizer::StepForTokens() const {
  return global_step_->is_resource() ? global_step_->Read() : global_step_->Ref();
}

void LegacySyncReplicasOptimizer::Aggregate(const GradientAndVariable& gv) {
  DeviceScope with_variable(graph(), DeviceOf(gv.var));
  if (gv.grad.is_none()) {
    aggregated_.push_back(gv);
  } else if (gv.grad.is_dense()) {
    aggregated_.push_back({SumDense(gv.grad.dense(), gv.var), gv.var});
  } else {
    aggregated_.push_back({SumSparse(gv.grad.slices(), gv.var), gv.var});
  }
}

Output LegacySyncReplicasOptimizer::SumDense(Output grad, const Variable& var) {
  const Queue queue = Queue::Fifo(graph(), tokens_per_step() * 2, {BaseType(grad.dtype())},
                                  {.shapes = {var.shape()}, .shared_name = SharedName(var, "")});
  TellOfReplicas(queue.handle().node);
  queues_.push_back({queue, {grad}, DeviceOf(var), /*is_sparse=*/false});
  const OutputList gradients =
      queue.DequeueMany(Constant(graph(), int32_t{replicas_to_aggregate()}, "num_required"));
  return gradients.empty() ? Output() : ReduceSum(gradients[0], 0);
}

// A gradient of some rows is one element of two tensors with as many rows as it happens to have, so
// the queue declares no shapes; taken together the rows of all stand one after the other.
IndexedSlices LegacySyncReplicasOptimizer::SumSparse(const IndexedSlices& grad,
                                                     const Variable& var) {
  const Queue queue = Queue::Fifo(graph(), tokens_per_step() * 2,
                                  {BaseType(grad.values.dtype()), grad.indices.dtype()},
                                  {.shared_name = StrCat("sparse_grad_q_", SharedName(var, ""))});
  TellOfReplicas(queue.handle().node);
  queues_.push_back({queue, {grad.values, grad.indices}, DeviceOf(var), /*is_sparse=*/true});
  const OutputList rows =
      queue.DequeueMany(Constant(graph(), int32_t{replicas_to_aggregate()}, "num_required"));
  if (rows.size() != 2 || !rows[0]) return {};
  PartialShape shape = var.shape();
  shape.set_dim(0, PartialShape::kUnknown);
  rows[0].node->set_output_shape(0, shape);
  rows[0].node->set_output_shape(1, PartialShape({PartialShape::kUnknown}));
  // Summed here, and not row by row in the optimizer: Momentum of g1 + g2 is not that of g1 and
  // then of g2.
  return SumDuplicateIndices(
      {.values = rows[0], .indices = rows[1], .dense_shape = grad.dense_shape});
}

Output LegacySyncReplicasOptimizer::PutUnlessStale() {
  const Output origin = Stack({Cast(replica_, DT_INT64), CastTo64(local_step_)});
  const Output ledger = Ledger(DeviceOf(*global_step_));
  const Output global_step = CastTo64(global_step_->Read());
  const Branch no_op_grad = [&]() -> BranchResult {
    DeviceScope with_ledger(graph(), DeviceOf(*global_step_));
    const Operation entered(NodeBuilder(&graph(), "GradientLedgerEnter", At::current())
                                .Name("enter_stale")
                                .Input(ledger)
                                .Input(global_step)
                                .Input(replica_)
                                .Attr("outcome", std::string("stale"))
                                .Attr("gradients", static_cast<int64_t>(queues_.size()))
                                .Finish());
    ControlDependencies after(graph(), {entered});
    return NoOp(graph(), {.name = "no_grad_enqueue"});
  };
  const Branch real_grad = [&]() -> BranchResult {
    std::vector<Operation> puts;
    for (const GradientQueue& q : queues_) {
      DeviceScope on(graph(), q.device);
      OutputList element = q.gradient;
      element.push_back(origin);
      puts.push_back(q.queue.Enqueue(element));
      TellReplica(puts.back().node);
    }
    return Group(graph(), puts);
  };
  const OutputList done = Cond(is_stale_, no_op_grad, real_grad);
  return done.empty() ? Output() : done[0];
}

absl::StatusOr<Operation> LegacySyncReplicasOptimizer::Synchronize() {
  Operation update;
  Queue dummy;
  {
    // sync_op will be on the same device as the global step.
    DeviceScope with_step(graph(), DeviceOf(*global_step_));
    NameScope root(graph(), "");
    SLUICE_ASSIGN_OR_RETURN(update, ApplyAggregated());
    MakeTokenQueues();
    // The queue runner closes its queue when it stops, and a closed queue stays so: not to be one
    // that a restarted worker meets again.
    dummy = Queue::Fifo(graph(), 1, {DT_INT32},
                        {.shapes = {PartialShape::Scalar()},
                         .name = "dummy_queue",
                         .shared_name = "dummy_queue" + NumberSuffix()});
    SLUICE_RETURN_IF_ERROR(graph().status());
  }
  {
    DeviceScope with_step(graph(), DeviceOf(*global_step_));
    clean_up_op_ = Abort(graph(), {.error_msg = "From sync_replicas"});
  }
  const Output put = PutUnlessStale();
  if (!put) return graph().status();

  DeviceScope with_step(graph(), DeviceOf(*global_step_));
  NameScope root(graph(), "");
  Operation train;
  {
    ControlDependencies after(graph(), {put});
    train = local_steps_->ScatterUpdate(replica_, TakeToken());
  }
  SLUICE_RETURN_IF_ERROR(FinishSync(PutTokens(tokens_per_step(), {update})));
  // TensorFlow's runner closes the dummy alone, and who waits for a token waits for ever.
  const auto close = [&](bool cancel) {
    return Group(graph(), {dummy.Close(cancel), CloseTokens(cancel, "")});
  };
  QueueRunner runner;
  runner.queue_name = dummy.name();
  runner.enqueue_ops = {sync_op()};
  runner.close_op = close(/*cancel=*/false);
  runner.cancel_op = close(/*cancel=*/true);
  SetChiefQueueRunner(std::move(runner));
  return train;
}

void LegacySyncReplicasOptimizer::MakeChiefInit() {
  std::vector<Operation> inits = {local_init_op_};
  for (const GradientQueue& q : queues_) {
    DeviceScope on(graph(), q.device);
    inits.push_back(TellGlobalStep(q.queue));
  }
  chief_init_op_ = Group(graph(), inits);
}

absl::StatusOr<Operation> LegacySyncReplicasOptimizer::CleanUpOp() const {
  if (applied_) return clean_up_op_;
  return absl::FailedPreconditionError(
      "get_clean_up_op() should be called after apply_gradients().");
}

}  // namespace sluice
