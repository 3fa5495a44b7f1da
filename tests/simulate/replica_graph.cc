#include "tests/simulate/replica_graph.h"

#include "graph/build/node_builder.h"
#include "graph/status.h"
#include "ops/array/builders.h"
#include "ops/indexing/builders.h"
#include "ops/math/builders.h"
#include "ops/sugar.h"
#include "training/optimizer/gradient_descent.h"
#include "training/sync/legacy_sync_replicas_optimizer.h"
#include "training/sync/sync_replicas_optimizer.h"

namespace sluice {

ReplicaGraph::ReplicaGraph(const ReplicaGraphOptions& o) {
  Graph& g = graph;
  ReplicaGraph& r = *this;
  const int index = o.index;
  const int64_t size = int64_t{o.replicas} * o.attempts + o.noise;
  DeviceScope place(g, o.devices);
  const Variable step_var = GlobalStep(g);
  const Variable dense_var(g, "dense", {size}, Zeros());
  const Variable sparse_var(g, "sparse", {size, 1}, Zeros());
  r.dense_grad = Placeholder(g, DT_FLOAT, {size}, "dense_grad");
  r.row_values = Placeholder(g, DT_FLOAT, {-1, 1}, "row_values");
  r.row_indices = Placeholder(g, DT_INT64, {-1}, "row_indices");
  const IndexedSlices rows = {r.row_values, r.row_indices, {}};

  const SyncReplicasOptions options = {.replicas_to_aggregate = o.aggregate,
                                       .total_num_replicas = o.replicas,
                                       .replica_id = index,
                                       .deterministic = o.deterministic};
  GradientDescent sgd({.learning_rate = 1.0f});
  if (o.form == Form::kAccumulators) {
    r.optimizer = std::make_unique<SyncReplicasOptimizer>(std::move(sgd), options);
  } else {
    r.optimizer = std::make_unique<LegacySyncReplicasOptimizer>(std::move(sgd), options);
  }
  absl::StatusOr<Operation> made = r.optimizer->ApplyGradients(
      {{r.dense_grad, dense_var}, {rows, sparse_var}}, {.global_step = &step_var});
  if (!made.ok()) {
    g.SetError(made.status());
    return;
  }
  r.train = *made;
  // Puts the default number of tokens, which is enough for the first update.
  r.init_tokens = r.optimizer->InitTokensOp().value_or(Operation());
  r.leave = r.optimizer->LeaveOp();
  r.close = r.optimizer->CloseTokensOp();
  r.local_init = r.optimizer->LocalInitOp(/*is_chief=*/false);
  r.chief_init = r.optimizer->LocalInitOp(/*is_chief=*/true);
  r.forget_undone_tokens = r.optimizer->ForgetUndoneTokensOp();
  if (!o.deterministic) r.give_tokens = r.optimizer->GiveTokensOp();
  r.dense = dense_var.Read();
  r.sparse = sparse_var.Read();
  r.step = step_var.Read();
  const auto* sync = dynamic_cast<SyncReplicasOptimizer*>(r.optimizer.get());
  const auto* legacy = dynamic_cast<LegacySyncReplicasOptimizer*>(r.optimizer.get());
  r.local_step = sync != nullptr ? Identity(sync->local_step()->Ref())
                                 : Reshape(Slice(legacy->local_steps()->Ref(), {index}, {1}),
                                           std::vector<int64_t>{});
  OutputList sizes;
  for (const Queue& queue : r.optimizer->token_queues()) {
    DeviceScope with_step(g, step_var.device());
    sizes.push_back(queue.Size());
  }
  r.tokens_left = AddN(sizes);
  r.totals = r.optimizer->LedgerTotals();
  r.by_update = r.optimizer->LedgerUpdates(o.updates);
  for (Node* node : g.nodes()) {
    if (node->FindAttr<int64_t>("_gradients") == nullptr) continue;
    const std::string count = node->op() == "FIFOQueueV2" ? "QueueSizeV2"
                              : node->op() == "ResourceConditionalAccumulator"
                                  ? "ResourceAccumulatorNumAccumulated"
                                  : "AccumulatorNumAccumulated";
    DeviceScope on(g, node->device());
    r.left.push_back(Output(NodeBuilder(&g, count, At::current()).Input(Output(node)).Finish()));
  }
  r.dense_value = Placeholder(g, DT_FLOAT, {size}, "dense_value");
  r.sparse_value = Placeholder(g, DT_FLOAT, {size, 1}, "sparse_value");
  r.step_value = Placeholder(g, DT_INT64, {}, "step_value");
  {
    DeviceScope with_variables(g, dense_var.device());
    r.restore = Group(g, {dense_var.Assign(r.dense_value), sparse_var.Assign(r.sparse_value),
                          step_var.Assign(r.step_value)});
  }
  r.init = InitializeVariables(g);
}

}  // namespace sluice
