// Synchronous replicas with backup workers, by conditional accumulators and a token queue.
//
//   SyncReplicasOptimizer opt(Adam(), {.replicas_to_aggregate = 3, .total_num_replicas = 4});
//   Operation train = opt.Minimize(loss, {.global_step = &step});   // run by every replica
//
// Every replica pushes its gradients, stamped with the step that it read the parameters at, into
// one accumulator a variable; older ones than the global step are dropped. The chief's queue runner
// takes the mean of `replicas_to_aggregate` gradients, updates the variables and the global step,
// and hands out tokens (replica_synchronizer.h).
//
// Reference behaviour: tf.compat.v1.train.SyncReplicasOptimizer: same nodes, names, shared names,
// devices, texts. Paper: Chen et al., "Revisiting Distributed Synchronous SGD", arXiv 1604.00981.
#ifndef SLUICE_TRAINING_SYNC_SYNC_REPLICAS_OPTIMIZER_H_
#define SLUICE_TRAINING_SYNC_SYNC_REPLICAS_OPTIMIZER_H_

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "training/sync/replica_synchronizer.h"

namespace sluice {

class SyncReplicasOptimizer : public ReplicaSynchronizer {
 public:
  template <std::derived_from<Optimizer> O>
  SyncReplicasOptimizer(O optimizer, SyncReplicasOptions options)
      : SyncReplicasOptimizer(std::make_unique<O>(std::move(optimizer)), std::move(options)) {}
  SyncReplicasOptimizer(std::unique_ptr<Optimizer> optimizer, SyncReplicasOptions options)
      : ReplicaSynchronizer(std::move(optimizer), std::move(options)) {}

  // The op that pushes this replica's gradients and then waits for a token.
  absl::StatusOr<Operation> ApplyGradients(const GradientsAndVariables& grads_and_vars,
                                           const ApplyGradientsOptions& options = {}) override;

  // Run once by every replica (chief: chief_init_op) after the variables are initialised.
  Operation local_step_init_op() const { return local_step_init_op_; }
  Operation chief_init_op() const { return chief_init_op_; }
  Operation LocalInitOp(bool is_chief) const override {
    return is_chief ? chief_init_op_ : local_step_init_op_;
  }
  // The step that this replica's parameters are from.
  const std::optional<Variable>& local_step() const { return local_step_; }

 protected:
  std::vector<Operation> SetUpdateSize(Output gradients) override;
  bool has_accumulators() const override { return true; }
  Output LocalStepValue() override { return local_step_ ? local_step_->Read() : Output(); }

 private:
  struct Accumulator {
    Output handle;
    bool is_sparse;
    std::string device;
  };
  void MakeLocalStep();
  // Push and take of one gradient; appends to push_ops_ and aggregated_.
  void Aggregate(const GradientAndVariable& gv);
  // The gradient as the accumulator adds it up, rounded to wire_dtype on its way.
  Output OffTheWire(Output gradient);
  Output PushDense(Output grad, const Variable& var);
  IndexedSlices PushSparse(const IndexedSlices& grad, const Variable& var);
  Output NoShape();
  void Pushed(Operation push);
  // The chief's step, and this replica's; the latter.
  absl::StatusOr<Operation> Synchronize();
  void MakeChiefInit();

  std::optional<Variable> local_step_;
  std::vector<Accumulator> accumulators_;
  std::vector<Operation> push_ops_;
  Operation local_step_init_op_;
  Operation chief_init_op_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SYNC_SYNC_REPLICAS_OPTIMIZER_H_
