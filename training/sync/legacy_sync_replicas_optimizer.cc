#include "training/sync/legacy_sync_replicas_optimizer.h"

#include "graph/build/cond.h"
#include "graph/build/group.h"
#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/strings.h"
#include "ops/array/builders.h"
#include "ops/control/builders.h"
#include "ops/indexing/builders.h"
#include "ops/math/builders.h"
#include "ops/sugar.h"

namespace sluice {

class LegacySyncReplicasOptimizer::Queues final : public GradientExchange {
 public:
  using GradientExchange::GradientExchange;

  const std::optional<Variable>& local_steps() const { return local_steps_; }
  Operation clean_up() const { return clean_up_; }

  bool has_accumulators() const override { return false; }
  // Returns the op that sets this replica's local step to the global step. A local step from a
  // checkpoint belongs to parameters that the replica no longer has. With the new step, a restarted
  // replica can push a gradient at once. It replaces the gradient whose token was lost.
  Operation MakeLocalStep() override;
  Output Aggregate(Output grad, const Variable& var) override;
  IndexedSlices Aggregate(const IndexedSlices& grad, const Variable& var) override;
  std::optional<Queue> MakeRunnerQueue() override;
  // Returns the ops that push the gradients. In the step, they push nothing if the gradients are
  // stale.
  std::vector<Operation> Push() override;
  Operation SetLocalStep(Output token) override {
    return local_steps_->ScatterUpdate(replica_, token);
  }
  std::vector<Operation> ForgetUndone() override;
  Output LocalStep() override;
  // Reads a reference variable by reference, because its shared Identity may have run before the
  // update.
  Output StepForTokens() const override {
    const Variable& step = *nodes_.global_step();
    return step.is_resource() ? step.Read() : step.Ref();
  }

 private:
  struct GradientQueue {
    Queue queue;
    OutputList gradient;  // of this replica: the components of a queue element
    std::string device;
  };
  // Adds a queue of gradients and a dequeue of replicas_to_aggregate elements. Returns the
  // components of the dequeued batch.
  OutputList DequeueAll(const OutputList& gradient, const Variable& var,
                        std::vector<PartialShape> shapes, std::string shared_name);
  Operation CountAsStale(Output ledger, Output global_step);

  std::optional<Variable> local_steps_;
  Output replica_;     // the replica_id: an int32 scalar
  Output local_step_;  // of this replica
  Output is_stale_;
  std::vector<GradientQueue> queues_;
  Operation clean_up_;
};

Operation LegacySyncReplicasOptimizer::Queues::MakeLocalStep() {
  const Variable& global_step = *nodes_.global_step();
  {
    DeviceScope with_step(graph(), global_step.device());
    local_steps_ = Variable(graph(), "local_steps",
                            Zeros(graph(), {nodes_.options.NumReplicas()}, global_step.dtype()),
                            {.trainable = false, .use_resource = false});
  }
  replica_ = Constant(graph(), int32_t{nodes_.options.ReplicaId()}, "sync_replica_id");
  local_step_ = LocalStep();
  is_stale_ = Less(local_step_, global_step.Read());
  DeviceScope with_step(graph(), global_step.device());
  return local_steps_->ScatterUpdate(replica_, global_step.Read(), {.name = "local_step_init"});
}

Output LegacySyncReplicasOptimizer::Queues::LocalStep() {
  const Output one = Constant(graph(), Tensor::Vector<int32_t>({1}), "one");
  // Reads from the reference, because the Identity that all reads share may have run before the
  // last update.
  const Output row =
      Slice(local_steps_->Ref(), Reshape(replica_, {1}), one, {.name = "get_local_step"});
  return Reshape(row, std::vector<int64_t>{});
}

OutputList LegacySyncReplicasOptimizer::Queues::DequeueAll(const OutputList& gradient,
                                                           const Variable& var,
                                                           std::vector<PartialShape> shapes,
                                                           std::string shared_name) {
  std::vector<DataType> types;
  for (const Output& t : gradient) types.push_back(BaseType(t.dtype()));
  const Queue queue =
      Queue::Fifo(graph(), nodes_.options.TokensPerStep() * 2, types,
                  {.shapes = std::move(shapes), .shared_name = std::move(shared_name)});
  nodes_.DescribeReplicas(queue.handle().node);
  queues_.push_back({queue, gradient, var.device()});
  return queue.DequeueMany(
      Constant(graph(), int32_t{nodes_.options.replicas_to_aggregate}, "num_required"));
}

Output LegacySyncReplicasOptimizer::Queues::Aggregate(Output grad, const Variable& var) {
  const OutputList gradients =
      DequeueAll({grad}, var, {var.shape()}, nodes_.GradientsSharedName(var, ""));
  return gradients.empty() ? Output() : ReduceSum(gradients[0], 0);
}

// The queue declares no shapes, because gradients differ in their number of rows. Elements that are
// dequeued together are concatenated.
IndexedSlices LegacySyncReplicasOptimizer::Queues::Aggregate(const IndexedSlices& grad,
                                                             const Variable& var) {
  const OutputList rows = DequeueAll({grad.values, grad.indices}, var, {},
                                     StrCat("sparse_grad_q_", nodes_.GradientsSharedName(var, "")));
  if (rows.size() != 2 || !rows[0]) return {};
  PartialShape shape = var.shape();
  shape.set_dim(0, PartialShape::kUnknown);
  rows[0].node->set_output_shape(0, shape);
  rows[0].node->set_output_shape(1, PartialShape({PartialShape::kUnknown}));
  // Sums rows with equal indices before the update, because Momentum with g1 + g2 differs from
  // Momentum with g1 and then with g2.
  return SumDuplicateIndices(
      {.values = rows[0], .indices = rows[1], .dense_shape = grad.dense_shape});
}

// Returns a queue for the queue runner alone, as TensorFlow does. A queue runner closes its queue
// when it stops, and the queue stays closed, so restarted workers must not use this queue.
std::optional<Queue> LegacySyncReplicasOptimizer::Queues::MakeRunnerQueue() {
  return Queue::Fifo(graph(), 1, {DT_INT32},
                     {.shapes = {PartialShape::Scalar()},
                      .name = "dummy_queue",
                      .shared_name = nodes_.Numbered("dummy_queue")});
}

Operation LegacySyncReplicasOptimizer::Queues::CountAsStale(Output ledger, Output global_step) {
  return NodeBuilder(&graph(), "GradientLedgerEnter", At::current())
      .Name("enter_stale")
      .Input(ledger)
      .Input(global_step)
      .Input(replica_)
      .Attr("outcome", std::string("stale"))
      .Attr("gradients", static_cast<int64_t>(queues_.size()))
      .Finish();
}

std::vector<Operation> LegacySyncReplicasOptimizer::Queues::Push() {
  const std::string& device_of_step = nodes_.device_of_step();
  {
    DeviceScope with_step(graph(), device_of_step);
    clean_up_ = Abort(graph(), {.error_msg = "From sync_replicas"});
  }
  const Output origin = Stack({Cast(replica_, DT_INT64), CastTo64(local_step_)});
  const Output ledger = nodes_.Ledger(device_of_step);
  const Output global_step = CastTo64(nodes_.global_step()->Read());
  const Branch no_op_grad = [&]() -> BranchResult {
    DeviceScope with_ledger(graph(), device_of_step);
    ControlDependencies after(graph(), {CountAsStale(ledger, global_step)});
    return NoOp(graph(), {.name = "no_grad_enqueue"});
  };
  const Branch real_grad = [&]() -> BranchResult {
    std::vector<Operation> puts;
    for (const GradientQueue& q : queues_) {
      DeviceScope on(graph(), q.device);
      OutputList element = q.gradient;
      element.push_back(origin);
      puts.push_back(q.queue.Enqueue(element));
      nodes_.NameReplica(puts.back().node);
    }
    return Group(graph(), puts);
  };
  const OutputList done = Cond(is_stale_, no_op_grad, real_grad);
  if (done.empty()) return {};
  return {done[0]};
}

std::vector<Operation> LegacySyncReplicasOptimizer::Queues::ForgetUndone() {
  std::vector<Operation> sets;
  for (const GradientQueue& q : queues_) {
    DeviceScope on(graph(), q.device);
    sets.push_back(nodes_.SetGlobalStep(q.queue));
  }
  return sets;
}

namespace {

SyncReplicasOptions WithReplica(SyncReplicasOptions options) {
  if (!options.replica_id) options.replica_id = 0;
  return options;
}

}  // namespace

LegacySyncReplicasOptimizer::LegacySyncReplicasOptimizer(std::unique_ptr<Optimizer> optimizer,
                                                         SyncReplicasOptions options)
    : LegacySyncReplicasOptimizer(std::move(optimizer),
                                  new Queues(WithReplica(std::move(options)))) {}

LegacySyncReplicasOptimizer::LegacySyncReplicasOptimizer(std::unique_ptr<Optimizer> optimizer,
                                                         Queues* queues)
    : ReplicaSynchronizer(std::move(optimizer), std::unique_ptr<GradientExchange>(queues)),
      queues_(queues) {}

absl::StatusOr<Operation> LegacySyncReplicasOptimizer::CleanUpOp() const {
  if (gradients_applied()) return queues_->clean_up();
  return absl::FailedPreconditionError(
      "get_clean_up_op() should be called after apply_gradients().");
}

const std::optional<Variable>& LegacySyncReplicasOptimizer::local_steps() const {
  return queues_->local_steps();
}

}  // namespace sluice
