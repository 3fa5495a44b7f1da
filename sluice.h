// The header of Sluice for programs that build, differentiate, train and run graphs in one process.
// sluice_cluster.h adds servers, clusters and remote sessions.
//
//   Graph g;
//   Output x = Placeholder(g, DT_FLOAT, {-1, 2});
//   Output y = Placeholder(g, DT_FLOAT, {-1, 1});
//   Variable w(g, "w", {2, 1}, Zeros());
//   Output loss = ReduceMean(Square(MatMul(x, w) - y));
//   Operation train = GradientDescent({.learning_rate = 0.1f}).Minimize(loss);
//   Session session(g);
//   SLUICE_RETURN_IF_ERROR(session.Run({InitializeVariables(g)}));
//   for (int i = 0; i < 100; ++i) {
//     SLUICE_RETURN_IF_ERROR(session.Run({{x, xs}, {y, ys}}, {}, {train}).status());
//   }
//
// The parts, by folder:
//
//   graph/      graphs, scopes, conds, loops, tensors, gradients, the linter
//   ops/        builder functions of all ops, variables, queues, embeddings
//   executor/   devices and sessions
//   training/   optimizers, layers, losses, metrics, input, checkpoints, summaries, training loops
//
// Thread safety: one thread builds a graph, many threads run its steps.
// Ownership: the graph owns all nodes. Handles (Output, Variable, Operation, …) are valid as long
// as the graph lives. The graph must outlive its sessions.
// Errors: a function that builds a graph and fails returns an invalid handle. The graph keeps its
// first error in Graph::status(), and Session::Run returns it. All other functions return
// absl::Status. Nothing throws.
//
// Each included header states these properties of its own classes. Link //:sluice, or the installed
// library.
#ifndef SLUICE_H_
#define SLUICE_H_

#include "executor/device/device_set.h"
#include "executor/session/session.h"
#include "executor/wait/stall_signal.h"
#include "graph/build/cond.h"
#include "graph/build/container.h"
#include "graph/build/group.h"
#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/build/while.h"
#include "graph/gradient/gradients.h"
#include "graph/infer/shape_context.h"
#include "graph/ir/graph.h"
#include "graph/lint/lint.h"
#include "graph/tensor/tensor.h"
#include "ops/builders/ops.h"
#include "ops/dataflow/queue_handle.h"
#include "ops/embedding/embedding.h"
#include "ops/embedding/embedding_table.h"
#include "ops/embedding/partitioned_variable.h"
#include "ops/embedding/partitioner.h"
#include "ops/lists/tensor_array_handle.h"
#include "ops/state/constraint.h"
#include "ops/state/variable.h"
#include "ops/sugar.h"
#include "training/average/exponential_moving_average.h"
#include "training/checkpoint/checkpoint_reader.h"
#include "training/checkpoint/saved_model.h"
#include "training/checkpoint/saver.h"
#include "training/estimator/estimator.h"
#include "training/gradient/clip.h"
#include "training/gradient/loss_scale.h"
#include "training/input/idx.h"
#include "training/input/input.h"
#include "training/layers/attention.h"
#include "training/layers/conv.h"
#include "training/layers/dense.h"
#include "training/layers/initializers.h"
#include "training/layers/layer.h"
#include "training/layers/losses.h"
#include "training/layers/normalization.h"
#include "training/layers/rnn.h"
#include "training/layers/rnn_cell.h"
#include "training/layers/sampled_loss.h"
#include "training/loop/coordinator.h"
#include "training/loop/queue_runner.h"
#include "training/metrics/metrics.h"
#include "training/optimizer/adagrad.h"
#include "training/optimizer/adam.h"
#include "training/optimizer/adam_async.h"
#include "training/optimizer/ftrl.h"
#include "training/optimizer/gradient_descent.h"
#include "training/optimizer/group_lasso.h"
#include "training/optimizer/momentum.h"
#include "training/optimizer/rms_prop.h"
#include "training/optimizer/sign.h"
#include "training/optimizer/weight_decay.h"
#include "training/schedule/decay.h"
#include "training/session/basic_hooks.h"
#include "training/session/logging_tensor_hook.h"
#include "training/session/monitored_training_session.h"
#include "training/session/summary_hooks.h"
#include "training/strategy/mirrored_strategy.h"
#include "training/summary/file_writer.h"
#include "training/summary/summary.h"
#include "training/sync/check_progress.h"
#include "training/sync/legacy_sync_replicas_optimizer.h"
#include "training/sync/sync_replicas_hook.h"
#include "training/sync/sync_replicas_optimizer.h"

#endif  // SLUICE_H_
