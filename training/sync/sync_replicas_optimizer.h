// Synchronous replicas with backup workers, by conditional accumulators and a token queue.
//
//   SyncReplicasOptimizer opt(Adam(), {.replicas_to_aggregate = 3, .total_num_replicas = 4});
//   Operation train = opt.Minimize(loss, {.global_step = &step});   // run by every replica
//
// Every replica pushes its gradients, stamped with the step that it read the parameters at, into
// one accumulator a variable; older ones than the global step are dropped. The chief's queue runner
// takes the mean of `replicas_to_aggregate` gradients, updates the variables and the global step,
// and puts max(replicas_to_aggregate, total_num_replicas) tokens into a queue; a replica goes on
// when it gets one.
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

#include "absl/status/statusor.h"
#include "ops/builders/queue.h"
#include "training/loop/queue_runner.h"
#include "training/optimizer/optimizer.h"

namespace sluice {

struct SyncReplicasOptions {
  int replicas_to_aggregate = 1;
  // More than replicas_to_aggregate: the rest are backups. Fewer: replicas compute several batches
  // an update. Absent: replicas_to_aggregate.
  std::optional<int> total_num_replicas;
  bool use_locking = false;
  std::string name = "sync_replicas";
};

class SyncReplicasOptimizer : public Optimizer {
 public:
  template <std::derived_from<Optimizer> O>
  SyncReplicasOptimizer(O optimizer, SyncReplicasOptions options)
      : SyncReplicasOptimizer(std::make_unique<O>(std::move(optimizer)), std::move(options)) {}
  SyncReplicasOptimizer(std::unique_ptr<Optimizer> optimizer, SyncReplicasOptions options);

  absl::StatusOr<GradientsAndVariables> ComputeGradients(
      Output loss, const ComputeGradientsOptions& options = {}) override;
  // The op that pushes this replica's gradients and then waits for a token.
  absl::StatusOr<Operation> ApplyGradients(const GradientsAndVariables& grads_and_vars,
                                           const ApplyGradientsOptions& options = {}) override;

  // What the chief runs in a thread: aggregate, update, increment, hand out tokens.
  // FAILED_PRECONDITION before ApplyGradients.
  absl::StatusOr<QueueRunner> ChiefQueueRunner() const;
  // Fills the token queue before the first step; -1 = replicas_to_aggregate tokens.
  // INVALID_ARGUMENT where the first step could not finish with so few.
  absl::StatusOr<Operation> InitTokensOp(int num_tokens = -1);
  // Run once by every replica (chief: chief_init_op) after the variables are initialised.
  Operation local_step_init_op() const { return local_step_init_op_; }
  Operation chief_init_op() const { return chief_init_op_; }
  // A string vector: the variables that are not initialised yet; local init may run when empty.
  Output ready_for_local_init_op() const { return ready_for_local_init_op_; }
  // The step that this replica's parameters are from.
  const std::optional<Variable>& local_step() const { return local_step_; }
  // The aggregated gradients that the update applies, as (gradient, variable).
  const GradientsAndVariables& aggregated_gradients() const { return aggregated_; }
  // Whose Close(true) ends all replicas that wait for a token.
  const Queue& token_queue() const { return token_queue_; }

  int replicas_to_aggregate() const { return options_.replicas_to_aggregate; }
  int total_num_replicas() const { return total_num_replicas_; }
  int tokens_per_step() const { return tokens_per_step_; }

  std::optional<Variable> GetSlot(const Variable& var, std::string_view slot_name) const override;
  std::vector<std::string> GetSlotNames() const override;
  std::vector<Variable> Variables() const override;

 protected:
  Operation ApplyDense(Output grad, const Variable& var) override;
  Operation ApplySparse(const IndexedSlices& grad, const Variable& var) override;

 private:
  struct Accumulator {
    Output handle;
    bool is_sparse;
    std::string device;
  };
  void MakeLocalStep(Graph& graph, const Variable& global_step);
  // Push and take of one gradient; appends to push_ops_ and aggregated_.
  void Aggregate(const GradientAndVariable& gv);
  Output PushDense(Output grad, const Variable& var);
  IndexedSlices PushSparse(const IndexedSlices& grad, const Variable& var);
  absl::Status MakeTokenQueue(Graph& graph, const Variable& global_step);
  Operation WaitForToken(Graph& graph);
  Operation HandOutTokens(Graph& graph, int count, const Variable& global_step,
                          const std::vector<Operation>& after);
  void MakeChiefInit(Graph& graph, const Variable& global_step);

  std::unique_ptr<Optimizer> optimizer_;
  SyncReplicasOptions options_;
  int total_num_replicas_;
  int tokens_per_step_;

  bool applied_ = false;
  std::optional<Variable> global_step_;
  std::optional<Variable> local_step_;
  std::vector<Accumulator> accumulators_;
  std::vector<Operation> push_ops_;
  GradientsAndVariables aggregated_;
  Queue token_queue_;
  Operation local_step_init_op_;
  Operation chief_init_op_;
  Output ready_for_local_init_op_;
  QueueRunner chief_queue_runner_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SYNC_SYNC_REPLICAS_OPTIMIZER_H_
