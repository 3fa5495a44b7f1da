// Interface to the accumulators or queues through which replicas exchange gradients. The two forms
// of synchronous training differ only in this part: SyncReplicasOptimizer implements it by
// accumulators, and LegacySyncReplicasOptimizer by queues.
//
// ReplicaSynchronizer owns an exchange. It calls these methods once each, in this order:
// MakeLocalStep; Aggregate for each variable with a gradient; MakeRunnerQueue; Push; SetLocalStep;
// ForgetUndone. The other methods may be called any number of times afterwards. The caller opens
// the name scopes and device scopes in which TensorFlow has these nodes.
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
  // Adds the accumulator or queue for the gradients of `var`. Returns the mean or sum of
  // `replicas_to_aggregate` gradients, which the update applies.
  virtual Output Aggregate(Output grad, const Variable& var) = 0;
  virtual IndexedSlices Aggregate(const IndexedSlices& grad, const Variable& var) = 0;
  // Adds a queue that only the chief's queue runner uses. Nullopt: the runner uses the token queue.
  virtual std::optional<Queue> MakeRunnerQueue() { return std::nullopt; }
  // Returns the ops that push this replica's gradients.
  virtual std::vector<Operation> Push() = 0;
  // Returns the op that stores the value of a token as this replica's local step.
  virtual Operation SetLocalStep(Output token) = 0;
  // Returns the ops that a starting chief runs to give the accumulators or queues the global step.
  // If the chief has restored an older model, the updates after this step are undone, and the
  // accumulators or queues drop the gradients of these updates.
  virtual std::vector<Operation> ForgetUndone() = 0;

  // The step of this replica's next gradient: a scalar of the global step's type.
  virtual Output LocalStep() = 0;
  // The value for new tokens: the global step.
  virtual Output StepForTokens() const { return nodes_.global_step()->Read(); }
  // The ops that change replicas_to_aggregate in the accumulators. Only for kShrink
  // (lost_replicas.h).
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
