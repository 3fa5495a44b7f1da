#include "training/sync/sync_replicas_optimizer.h"

#include "graph/build/group.h"
#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/control/builders.h"
#include "ops/dataflow/builders.h"
#include "ops/math/builders.h"
#include "ops/sugar.h"
#include "training/sync/scopes.h"

namespace sluice {

absl::StatusOr<Operation> SyncReplicasOptimizer::ApplyGradients(
    const GradientsAndVariables& grads_and_vars, const ApplyGradientsOptions& options) {
  SLUICE_RETURN_IF_ERROR(Check(grads_and_vars, options));
  Begin(*options.global_step);
  MakeLocalStep();
  NameScope root(graph(), "");
  NameScope scope(graph(), name());
  for (const GradientAndVariable& gv : grads_and_vars) Aggregate(gv);
  SLUICE_ASSIGN_OR_RETURN(const Operation train, Synchronize());
  MakeChiefInit();
  SLUICE_RETURN_IF_ERROR(graph().status());
  applied_ = true;
  return train;
}

void SyncReplicasOptimizer::MakeLocalStep() {
  const Variable& global_step = *global_step_;
  {
    // The anchor is placed on the replica, whatever a device function does with variables.
    const Operation anchor = NoOp(graph());
    ColocateWith with(graph(), anchor);
    const Tensor zero =
        global_step.dtype() == DT_INT32 ? Tensor::Scalar(int32_t{0}) : Tensor::Scalar(int64_t{0});
    local_step_ = Variable(
        graph(), "sync_rep_local_step", zero,
        {.trainable = false, .use_resource = false, .collections = {std::string(kLocalVariables)}});
  }
  local_step_init_op_ = local_step_->Assign(global_step);
  ready_for_local_init_op_ = ReportUninitializedVariables(graph(), GlobalVariables(graph()));
}

void SyncReplicasOptimizer::Aggregate(const GradientAndVariable& gv) {
  DeviceScope with_variable(graph(), DeviceOf(gv.var));
  if (gv.grad.is_none()) {
    aggregated_.push_back(gv);
  } else if (gv.grad.is_dense()) {
    aggregated_.push_back({PushDense(gv.grad.dense(), gv.var), gv.var});
  } else {
    aggregated_.push_back({PushSparse(gv.grad.slices(), gv.var), gv.var});
  }
}

void SyncReplicasOptimizer::Pushed(Operation push) {
  TellReplica(push.node);
  push_ops_.push_back(push);
}

Output SyncReplicasOptimizer::OffTheWire(Output gradient) {
  const DataType wire = options().wire_dtype;
  const DataType dtype = BaseType(gradient.dtype());
  if (wire == DT_INVALID || (dtype != DT_FLOAT && dtype != DT_DOUBLE)) return gradient;
  Output small;
  {
    ColocateWith replica(graph(), Operation(gradient.node), /*ignore_existing=*/true);
    small = Cast(gradient, wire, {.name = "on_the_wire"});
  }
  return Cast(small, dtype, {.name = "off_the_wire"});
}

Output SyncReplicasOptimizer::PushDense(Output grad, const Variable& var) {
  const Output handle = ResourceConditionalAccumulator(
      graph(), BaseType(grad.dtype()), var.shape(),
      {.name = "conditional_accumulator", .shared_name = SharedName(var, "/grad_accum")});
  TellOfReplicas(handle.node);
  accumulators_.push_back({handle, /*is_sparse=*/false, DeviceOf(var)});
  const Output value = OffTheWire(grad);
  Pushed(ResourceAccumulatorApplyGradient(handle, CastTo64(local_step_->Read()), value));
  const std::string scope = OpScope(graph(), "ResourceAccumulatorTakeGradient");
  const Output required =
      Constant(graph(), int32_t{replicas_to_aggregate()}, scope + "num_required/");
  Output taken =
      ResourceAccumulatorTakeGradient(handle, required, BaseType(grad.dtype()), {.name = scope});
  if (taken) taken.node->set_output_shape(taken.index, var.shape());
  return taken;
}

IndexedSlices SyncReplicasOptimizer::PushSparse(const IndexedSlices& grad, const Variable& var) {
  const DataType dtype = BaseType(grad.values.dtype());
  const Output handle = SparseConditionalAccumulator(
      graph(), dtype, PartialShape::Scalar(),
      {.name = "sparse_conditional_accumulator", .shared_name = SharedName(var, "/grad_accum")});
  TellOfReplicas(handle.node);
  accumulators_.push_back({handle, /*is_sparse=*/true, DeviceOf(var)});
  const Output indices = CastTo64(grad.indices);
  const bool has_shape = static_cast<bool>(grad.dense_shape);
  const Output shape = has_shape ? CastTo64(grad.dense_shape) : NoShape();
  const Output local_step = CastTo64(local_step_->Read());
  {
    ColocateWith accumulator(graph(), handle);
    const Output values = OffTheWire(grad.values);
    Pushed(SparseAccumulatorApplyGradient(handle, local_step, indices, values, shape, has_shape));
  }
  const std::string scope = OpScope(graph(), "SparseAccumulatorTakeGradient");
  const Output required =
      Constant(graph(), int32_t{replicas_to_aggregate()}, scope + "num_required/");
  ColocateWith accumulator(graph(), handle);
  const SparseAccumulatorTakeGradientOutputs taken =
      SparseAccumulatorTakeGradient(handle, required, dtype, {.name = scope});
  return {.values = taken.values, .indices = taken.indices, .dense_shape = taken.shape};
}

// The empty shape of a gradient that does not tell its own, as TensorFlow's Python makes it.
Output SyncReplicasOptimizer::NoShape() {
  const std::string scope = OpScope(graph(), "Cast");
  const Output none = Constant(graph(), Tensor(DT_FLOAT, {0}), scope + "x/");
  return Cast(none, DT_INT64, {.name = scope});
}

absl::StatusOr<Operation> SyncReplicasOptimizer::Synchronize() {
  DeviceScope with_step(graph(), DeviceOf(*global_step_));
  NameScope root(graph(), "");
  SLUICE_ASSIGN_OR_RETURN(const Operation update, ApplyAggregated());
  MakeTokenQueues();
  SLUICE_RETURN_IF_ERROR(graph().status());
  Output token;
  {
    ControlDependencies after(graph(), push_ops_);
    token = TakeToken();
  }
  const Operation train = local_step_->Assign(token);
  SLUICE_RETURN_IF_ERROR(FinishSync(PutTokens(tokens_per_step(), {update})));
  QueueRunner runner;
  runner.queue_name = token_queue().name();
  runner.enqueue_ops = {sync_op()};
  runner.close_op = CloseTokens(/*cancel_pending_enqueues=*/false, "");
  runner.cancel_op = CloseTokens(/*cancel_pending_enqueues=*/true, "");
  SetChiefQueueRunner(std::move(runner));
  return train;
}

void SyncReplicasOptimizer::MakeChiefInit() {
  std::vector<Operation> inits = {local_step_init_op_};
  for (const Accumulator& a : accumulators_) {
    DeviceScope on(graph(), a.device);
    const Output step = CastTo64(global_step_->Read());
    if (a.is_sparse) {
      ColocateWith accumulator(graph(), a.handle);
      inits.push_back(AccumulatorSetGlobalStep(a.handle, step, {.name = "SetGlobalStep"}));
    } else {
      inits.push_back(ResourceAccumulatorSetGlobalStep(a.handle, step, {.name = "SetGlobalStep"}));
    }
  }
  if (num_tokens()) inits.push_back(num_tokens()->initializer());
  chief_init_op_ = Group(graph(), inits);
}

std::vector<Operation> SyncReplicasOptimizer::SetUpdateSize(Output gradients) {
  std::vector<Operation> sets;
  for (const Accumulator& a : accumulators_) {
    DeviceScope on(graph(), a.device);
    ColocateWith accumulator(graph(), a.handle);
    sets.emplace_back(
        NodeBuilder(&graph(),
                    a.is_sparse ? "AccumulatorSetUpdateSize" : "ResourceAccumulatorSetUpdateSize",
                    At::current())
            .Name("set_update_size")
            .Input(a.handle)
            .Input(gradients)
            .Finish());
  }
  return sets;
}

}  // namespace sluice
