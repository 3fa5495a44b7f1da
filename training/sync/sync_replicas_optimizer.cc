#include "training/sync/sync_replicas_optimizer.h"

#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "ops/control/builders.h"
#include "ops/dataflow/builders.h"
#include "ops/math/builders.h"
#include "ops/sugar.h"

namespace sluice {

class SyncReplicasOptimizer::Accumulators final : public GradientExchange {
 public:
  using GradientExchange::GradientExchange;

  const std::optional<Variable>& local_step() const { return local_step_; }

  bool has_accumulators() const override { return true; }
  Operation MakeLocalStep() override;
  Output Aggregate(Output grad, const Variable& var) override;
  IndexedSlices Aggregate(const IndexedSlices& grad, const Variable& var) override;
  std::vector<Operation> Push() override { return pushes_; }
  Operation SetLocalStep(Output token) override { return local_step_->Assign(token); }
  std::vector<Operation> ForgetUndone() override;
  Output LocalStep() override { return local_step_->Read(); }
  std::vector<Operation> SetReplicasToAggregate(Output replicas_to_aggregate) override;

 private:
  struct Accumulator {
    Output handle;
    bool is_sparse;
    std::string device;
  };
  void Add(Output handle, bool is_sparse, const Variable& var);
  void AddPush(Operation push);
  // Adds a cast of the gradient to wire_dtype on the replica, and a cast back on the accumulator's
  // device. Returns the result. Without a wire_dtype, returns `gradient`.
  Output OffTheWire(Output gradient);
  Output NumRequired(const std::string& scope);

  std::optional<Variable> local_step_;
  std::vector<Accumulator> accumulators_;
  std::vector<Operation> pushes_;
};

Operation SyncReplicasOptimizer::Accumulators::MakeLocalStep() {
  const Variable& global_step = *nodes_.global_step();
  {
    // Colocating the variable with this NoOp keeps it on the replica, even if a device function
    // places variables on parameter servers.
    const Operation anchor = NoOp(graph());
    ColocateWith with(graph(), anchor);
    const Tensor zero =
        global_step.dtype() == DT_INT32 ? Tensor::Scalar(int32_t{0}) : Tensor::Scalar(int64_t{0});
    local_step_ = Variable(
        graph(), "sync_rep_local_step", zero,
        {.trainable = false, .use_resource = false, .collections = {std::string(kLocalVariables)}});
  }
  return local_step_->Assign(global_step);
}

void SyncReplicasOptimizer::Accumulators::Add(Output handle, bool is_sparse, const Variable& var) {
  nodes_.DescribeReplicas(handle.node);
  accumulators_.push_back({handle, is_sparse, var.device()});
}

void SyncReplicasOptimizer::Accumulators::AddPush(Operation push) {
  nodes_.NameReplica(push.node);
  pushes_.push_back(push);
}

Output SyncReplicasOptimizer::Accumulators::OffTheWire(Output gradient) {
  const DataType wire = nodes_.options.wire_dtype;
  const DataType dtype = BaseType(gradient.dtype());
  if (wire == DT_INVALID || (dtype != DT_FLOAT && dtype != DT_DOUBLE)) return gradient;
  Output small;
  {
    ColocateWith replica(graph(), Operation(gradient.node), /*ignore_existing=*/true);
    small = Cast(gradient, wire, {.name = "on_the_wire"});
  }
  return Cast(small, dtype, {.name = "off_the_wire"});
}

Output SyncReplicasOptimizer::Accumulators::NumRequired(const std::string& scope) {
  return Constant(graph(), int32_t{nodes_.options.replicas_to_aggregate}, scope + "num_required/");
}

Output SyncReplicasOptimizer::Accumulators::Aggregate(Output grad, const Variable& var) {
  const DataType dtype = BaseType(grad.dtype());
  const Output handle = ResourceConditionalAccumulator(
      graph(), dtype, var.shape(),
      {.name = "conditional_accumulator",
       .shared_name = nodes_.GradientsSharedName(var, "/grad_accum")});
  Add(handle, /*is_sparse=*/false, var);
  const Output value = OffTheWire(grad);
  AddPush(ResourceAccumulatorApplyGradient(handle, CastTo64(local_step_->Read()), value));
  const std::string scope = OpScope(graph(), "ResourceAccumulatorTakeGradient");
  const Output required = NumRequired(scope);
  const Output taken = ResourceAccumulatorTakeGradient(handle, required, dtype, {.name = scope});
  if (taken) taken.node->set_output_shape(taken.index, var.shape());
  return taken;
}

IndexedSlices SyncReplicasOptimizer::Accumulators::Aggregate(const IndexedSlices& grad,
                                                             const Variable& var) {
  const DataType dtype = BaseType(grad.values.dtype());
  const Output handle =
      SparseConditionalAccumulator(graph(), dtype, PartialShape::Scalar(),
                                   {.name = "sparse_conditional_accumulator",
                                    .shared_name = nodes_.GradientsSharedName(var, "/grad_accum")});
  Add(handle, /*is_sparse=*/true, var);
  const Output indices = CastTo64(grad.indices);
  const bool has_shape = static_cast<bool>(grad.dense_shape);
  Output shape;
  if (has_shape) {
    shape = CastTo64(grad.dense_shape);
  } else {
    // If the shape of the gradient is unknown, passes an empty shape, built by the nodes of
    // TensorFlow's Python code.
    const std::string scope = OpScope(graph(), "Cast");
    const Output none = Constant(graph(), Tensor(DT_FLOAT, {0}), scope + "x/");
    shape = Cast(none, DT_INT64, {.name = scope});
  }
  const Output local_step = CastTo64(local_step_->Read());
  {
    ColocateWith accumulator(graph(), handle);
    const Output values = OffTheWire(grad.values);
    AddPush(SparseAccumulatorApplyGradient(handle, local_step, indices, values, shape, has_shape));
  }
  const std::string scope = OpScope(graph(), "SparseAccumulatorTakeGradient");
  const Output required = NumRequired(scope);
  ColocateWith accumulator(graph(), handle);
  const SparseAccumulatorTakeGradientOutputs taken =
      SparseAccumulatorTakeGradient(handle, required, dtype, {.name = scope});
  return {.values = taken.values, .indices = taken.indices, .dense_shape = taken.shape};
}

std::vector<Operation> SyncReplicasOptimizer::Accumulators::ForgetUndone() {
  std::vector<Operation> sets;
  for (const Accumulator& a : accumulators_) {
    DeviceScope on(graph(), a.device);
    const Output step = CastTo64(nodes_.global_step()->Read());
    if (a.is_sparse) {
      ColocateWith accumulator(graph(), a.handle);
      sets.push_back(AccumulatorSetGlobalStep(a.handle, step, {.name = "SetGlobalStep"}));
    } else {
      sets.push_back(ResourceAccumulatorSetGlobalStep(a.handle, step, {.name = "SetGlobalStep"}));
    }
  }
  return sets;
}

std::vector<Operation> SyncReplicasOptimizer::Accumulators::SetReplicasToAggregate(
    Output replicas_to_aggregate) {
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
            .Input(replicas_to_aggregate)
            .Finish());
  }
  return sets;
}

SyncReplicasOptimizer::SyncReplicasOptimizer(std::unique_ptr<Optimizer> optimizer,
                                             SyncReplicasOptions options)
    : SyncReplicasOptimizer(std::move(optimizer), new Accumulators(std::move(options))) {}

SyncReplicasOptimizer::SyncReplicasOptimizer(std::unique_ptr<Optimizer> optimizer,
                                             Accumulators* accumulators)
    : ReplicaSynchronizer(std::move(optimizer), std::unique_ptr<GradientExchange>(accumulators)),
      accumulators_(accumulators) {}

const std::optional<Variable>& SyncReplicasOptimizer::local_step() const {
  return accumulators_->local_step();
}

}  // namespace sluice
