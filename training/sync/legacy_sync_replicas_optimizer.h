// Synchronous replicas in TensorFlow's first form, by queues of gradients.
//
//   LegacySyncReplicasOptimizer opt(
//       Adam(), {.replicas_to_aggregate = 3, .total_num_replicas = 4, .replica_id = task});
//   Operation train = opt.Minimize(loss, {.global_step = &step});
//
// A replica whose step is behind the global one puts nothing in; the others put their gradients
// into one queue a variable. The chief's queue runner takes `replicas_to_aggregate` gradients of
// each, adds them up (a SUM, not a mean: divide the learning rate or the loss), updates the
// variables and the global step, and hands out tokens. The step of each replica's parameters is row
// `replica_id` of the variable `local_steps`, beside the global step, so it is saved in
// checkpoints.
//
// When to use it: to go on with graphs and checkpoints of that form, or where gradients are to be
// added up; else SyncReplicasOptimizer, which keeps one sum where this one keeps all gradients.
//
// Unlike TensorFlow's, a stale gradient is never applied: enqueues lie inside the branch that is
// taken, and the queues know the step of each gradient (ops/dataflow/gradient_queue.h), so one that
// was overtaken between check and enqueue is dropped too. TensorFlow's chief clears the queues
// after the update, before the tokens; these have nothing then but gradients of replicas that were
// started again meanwhile, which are for the next. Reference behaviour:
// tf.train.SyncReplicasOptimizer of TensorFlow 0.7 to 0.12.
#ifndef SLUICE_TRAINING_SYNC_LEGACY_SYNC_REPLICAS_OPTIMIZER_H_
#define SLUICE_TRAINING_SYNC_LEGACY_SYNC_REPLICAS_OPTIMIZER_H_

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "training/sync/replica_synchronizer.h"

namespace sluice {

class LegacySyncReplicasOptimizer : public ReplicaSynchronizer {
 public:
  // Without a replica_id this is replica 0.
  template <std::derived_from<Optimizer> O>
  LegacySyncReplicasOptimizer(O optimizer, SyncReplicasOptions options)
      : LegacySyncReplicasOptimizer(std::make_unique<O>(std::move(optimizer)), std::move(options)) {
  }
  LegacySyncReplicasOptimizer(std::unique_ptr<Optimizer> optimizer, SyncReplicasOptions options);

  // The op that puts this replica's gradients in, waits for a token, and notes its step.
  absl::StatusOr<Operation> ApplyGradients(const GradientsAndVariables& grads_and_vars,
                                           const ApplyGradientsOptions& options = {}) override;

  // A replica's: its row of local_steps is the global step, whatever a checkpoint says of it. Who
  // was started again can so give a gradient at once, for the token that was lost with it.
  Operation LocalInitOp(bool is_chief) const override {
    return is_chief ? chief_init_op_ : local_init_op_;
  }
  // Ends the step that runs it with ABORTED "From sync_replicas" (TensorFlow: the process).
  // FAILED_PRECONDITION "get_clean_up_op() should be called after apply_gradients().".
  absl::StatusOr<Operation> CleanUpOp() const;
  // The step of each replica's parameters.
  const std::optional<Variable>& local_steps() const { return local_steps_; }

 protected:
  Output LocalStepValue() override;
  // Of its reference, if it has one.
  Output StepForTokens() const override;

 private:
  struct GradientQueue {
    Queue queue;
    OutputList gradient;  // what this replica puts in
    std::string device;
    bool is_sparse;
  };
  void MakeLocalSteps();
  // The queue of one gradient; its sum is appended to aggregated_.
  void Aggregate(const GradientAndVariable& gv);
  Output SumDense(Output grad, const Variable& var);
  IndexedSlices SumSparse(const IndexedSlices& grad, const Variable& var);
  // Puts the gradients in, unless they are stale.
  Output PutUnlessStale();
  absl::StatusOr<Operation> Synchronize();
  void MakeChiefInit();

  std::optional<Variable> local_steps_;
  Output replica_;     // int32 scalar
  Output local_step_;  // of this replica
  Output is_stale_;
  std::vector<GradientQueue> queues_;
  Operation clean_up_op_;
  Operation local_init_op_;
  Operation chief_init_op_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SYNC_LEGACY_SYNC_REPLICAS_OPTIMIZER_H_
