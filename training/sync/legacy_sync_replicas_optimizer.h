// Trains replicas synchronously in TensorFlow's first form, with queues of gradients.
//
//   LegacySyncReplicasOptimizer opt(
//       Adam(), {.replicas_to_aggregate = 3, .total_num_replicas = 4, .replica_id = task});
//   Operation train = opt.Minimize(loss, {.global_step = &step});
//
// Every replica puts its gradients into one queue per variable. A replica does not enqueue stale
// gradients, which were computed from parameters of an earlier step than the global step. The
// update takes `replicas_to_aggregate` gradients from each queue and applies their sum
// (replica_synchronizer.h). Divide the learning rate or the loss to get a mean. Row `replica_id` of
// the variable `local_steps` holds the step of that replica's parameters. The variable is colocated
// with the global step and saved in checkpoints.
//
// Use it to continue graphs and checkpoints of this form, or if gradients must be summed. Otherwise
// use SyncReplicasOptimizer, which keeps one sum per variable and not all gradients.
//
// Unlike in TensorFlow, a stale gradient is never applied. A replica enqueues its gradient only in
// the branch of a cond in which the gradient is not stale. The queue also knows the step of each
// gradient (ops/dataflow/gradient_queue.h), so it drops a gradient that becomes stale between the
// check and the enqueue. TensorFlow's chief also clears the queues after each update, before it
// permits the replicas to continue. Here that is not needed, because stale gradients are dropped.
// The queues then hold only gradients of restarted replicas, which belong to the next update.
//
// Thread safety: none, as for Optimizer. One thread builds the graph of a replica.
// Ownership: the object owns the wrapped optimizer, and outlives its hooks. The graph owns the
// nodes.
// Errors: those of ReplicaSynchronizer, with TensorFlow's texts.
// Reference: tf.train.SyncReplicasOptimizer of TensorFlow 0.7 to 0.12.
#ifndef SLUICE_TRAINING_SYNC_LEGACY_SYNC_REPLICAS_OPTIMIZER_H_
#define SLUICE_TRAINING_SYNC_LEGACY_SYNC_REPLICAS_OPTIMIZER_H_

#include <concepts>
#include <memory>
#include <optional>
#include <utility>

#include "training/sync/replica_synchronizer.h"

namespace sluice {

class LegacySyncReplicasOptimizer : public ReplicaSynchronizer {
 public:
  // If options.replica_id is absent, it is set to 0.
  template <std::derived_from<Optimizer> O>
  LegacySyncReplicasOptimizer(O optimizer, SyncReplicasOptions options)
      : LegacySyncReplicasOptimizer(std::make_unique<O>(std::move(optimizer)), std::move(options)) {
  }
  LegacySyncReplicasOptimizer(std::unique_ptr<Optimizer> optimizer, SyncReplicasOptions options);

  // Returns an op that ends the step that runs it with ABORTED "From sync_replicas". (In TensorFlow
  // this op ends the process.) FAILED_PRECONDITION "get_clean_up_op() should be called after
  // apply_gradients()." if ApplyGradients was not called.
  absl::StatusOr<Operation> CleanUpOp() const;
  // The variable with the step of each replica's parameters, of shape [total_num_replicas]. Absent
  // before ApplyGradients.
  const std::optional<Variable>& local_steps() const;

 private:
  class Queues;
  LegacySyncReplicasOptimizer(std::unique_ptr<Optimizer> optimizer, Queues* queues);

  Queues* queues_;  // owned by the base class
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SYNC_LEGACY_SYNC_REPLICAS_OPTIMIZER_H_
