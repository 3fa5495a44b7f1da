// Trains replicas synchronously, with backup workers, by conditional accumulators and a token
// queue.
//
//   SyncReplicasOptimizer opt(Adam(), {.replicas_to_aggregate = 3, .total_num_replicas = 4});
//   Operation train = opt.Minimize(loss, {.global_step = &step});   // every replica runs it
//   hooks.push_back(opt.MakeSessionRunHook(is_chief));
//
// Every replica pushes its gradients, stamped with the step of its parameters, into one accumulator
// per variable. Gradients older than the global step are dropped. The update applies the mean of
// `replicas_to_aggregate` gradients. It then puts tokens into the queue, each of which permits a
// replica to compute its next gradient (replica_synchronizer.h). If `replicas_to_aggregate` is less
// than the number of replicas, the slowest replicas of a step are backups, whose gradients are
// dropped.
//
// Thread safety: none, as for Optimizer. One thread builds the graph of a replica.
// Ownership: the object owns the wrapped optimizer, and outlives its hooks. The graph owns the
// nodes.
// Errors: those of ReplicaSynchronizer, with TensorFlow's texts. INVALID_ARGUMENT if there is no
// global step.
// Reference: tf.compat.v1.train.SyncReplicasOptimizer, with the same nodes, names, shared names,
// devices and texts. Paper: Chen et al., "Revisiting Distributed Synchronous SGD", arXiv
// 1604.00981.
#ifndef SLUICE_TRAINING_SYNC_SYNC_REPLICAS_OPTIMIZER_H_
#define SLUICE_TRAINING_SYNC_SYNC_REPLICAS_OPTIMIZER_H_

#include <concepts>
#include <memory>
#include <optional>
#include <utility>

#include "training/sync/replica_synchronizer.h"

namespace sluice {

class SyncReplicasOptimizer : public ReplicaSynchronizer {
 public:
  // Wraps `optimizer`, which is moved and applies the mean gradients.
  template <std::derived_from<Optimizer> O>
  SyncReplicasOptimizer(O optimizer, SyncReplicasOptions options)
      : SyncReplicasOptimizer(std::make_unique<O>(std::move(optimizer)), std::move(options)) {}
  SyncReplicasOptimizer(std::unique_ptr<Optimizer> optimizer, SyncReplicasOptions options);

  // LocalInitOp under TensorFlow's names: the op for replicas other than the chief, and the
  // chief's.
  Operation local_step_init_op() const { return LocalInitOp(/*is_chief=*/false); }
  Operation chief_init_op() const { return LocalInitOp(/*is_chief=*/true); }
  // The variable with the global step of the parameters that this replica has read. Absent before
  // ApplyGradients.
  const std::optional<Variable>& local_step() const;

 private:
  class Accumulators;
  SyncReplicasOptimizer(std::unique_ptr<Optimizer> optimizer, Accumulators* accumulators);

  Accumulators* accumulators_;  // owned by the base class
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SYNC_SYNC_REPLICAS_OPTIMIZER_H_
