// Interface to the accumulators or queues through which replicas exchange gradients in synchronous
// training. SyncReplicasOptimizer implements it by accumulators, and LegacySyncReplicasOptimizer by
// queues. The two optimizers differ only in this part.
//
// Their base class ReplicaSynchronizer owns an exchange. While it builds a replica's graph, it
// calls these methods once each, in this order: MakeLocalStep; Aggregate for each variable with a
// gradient; MakeRunnerQueue; Push; SetLocalStep; ForgetUndone. The other methods may be called any
// number of times afterwards. The caller opens name scopes and device scopes, so that the nodes get
// the names and devices that they have in TensorFlow.
#ifndef SLUICE_TRAINING_SYNC_GRADIENT_EXCHANGE_H_
#define SLUICE_TRAINING_SYNC_GRADIENT_EXCHANGE_H_

#include <optional>
#include <vector>

#include "graph/ir/graph.h"
#include "ops/dataflow/queue_handle.h"
#include "ops/state/variable.h"
#include "training/sync/sync_nodes.h"

namespace sluice {

class GradientExchange {
 public:
  explicit GradientExchange(SyncReplicasOptions options) : nodes_(std::move(options)) {}
  virtual ~GradientExchange() = default;
  GradientExchange(const GradientExchange&) = delete;
  GradientExchange& operator=(const GradientExchange&) = delete;

  SyncNodes& nodes() { return nodes_; }
  // Whether the exchange consists of accumulators. Otherwise it consists of queues.
  virtual bool has_accumulators() const = 0;

  // Adds the variable for this replica's local step: the global step of the parameters that the
  // replica has read. Returns the op that sets the variable to the global step.
  virtual Operation MakeLocalStep() = 0;
  // Adds the accumulator or queue for the gradients of `var`. The ops of Push will add `grad`, the
  // gradient of this replica, to the accumulator or queue. Returns the gradient that an update
  // applies: accumulators give the mean of `replicas_to_aggregate` gradients, queues the sum.
  virtual Output Aggregate(Output grad, const Variable& var) = 0;
  virtual IndexedSlices Aggregate(const IndexedSlices& grad, const Variable& var) = 0;
  // Adds a queue for the chief's queue runner alone (QueueRunner::queue_name). The runner closes
  // this queue when the runner stops. Nullopt: the runner belongs to the token queue
  // (token_queues.h).
  virtual std::optional<Queue> MakeRunnerQueue() { return std::nullopt; }
  // Returns the ops that add this replica's gradients to the accumulators or queues. Stale
  // gradients, whose local step is behind the global step, are dropped.
  virtual std::vector<Operation> Push() = 0;
  // Returns the op that stores `token`, the value of a token (token_queues.h), as this replica's
  // local step. `token` is a scalar of the global step's type.
  virtual Operation SetLocalStep(Output token) = 0;
  // Returns the ops that a starting chief runs to give the accumulators or queues the global step.
  // If the chief has restored an older model, the updates after that step are undone, and the
  // accumulators or queues drop the gradients of these updates.
  virtual std::vector<Operation> ForgetUndone() = 0;

  // Returns the local step of this replica, which is also the step of its next gradient: a scalar
  // of the global step's type.
  virtual Output LocalStep() = 0;
  // Returns the value of the tokens that an update puts: the global step after the update.
  virtual Output StepForTokens() const { return nodes_.global_step()->Read(); }
  // Returns the ops that change the number of gradients per update to the value of
  // `replicas_to_aggregate`, an int32 scalar. Used only with OnLostReplica::kShrink, which queues
  // do not support: they return no ops.
  virtual std::vector<Operation> SetReplicasToAggregate(Output replicas_to_aggregate) {
    (void)replicas_to_aggregate;
    return {};
  }

 protected:
  Graph& graph() const { return nodes_.graph(); }

  SyncNodes nodes_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SYNC_GRADIENT_EXCHANGE_H_
