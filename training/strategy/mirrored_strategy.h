// Trains copies of a model on several devices of one process as one model. Each variable has a copy
// per device, and all copies get the same update from the sum of the replicas' gradients.
//
//   MirroredStrategy strategy(g, {"/device:CPU:0", "/device:CPU:1"});
//   auto train = strategy.Run<Operation>([&](ReplicaContext& r) -> absl::StatusOr<Operation> {
//     Variable w = strategy.MakeVariable("w", {784, 10}, GlorotUniform());
//     return optimizer.Minimize(Loss(Share(batch, r.replica()), w));
//   });
//
// The first replica builds the same nodes as the default strategy. Replica k adds its ops on its
// device, in the name scope replica_<k>. MakeVariable creates a variable once for all replicas: "w"
// on the first device, and "w/replica_1" on the second, initialized with the value of "w".
//
// Thread safety: none. Each replica's program runs in a thread of its own, one at a time, so the
// program needs no locks.
// Ownership: the graph owns the variables and outlives the strategy. The strategy must live until
// the graph is built, not while steps run.
// Errors: Run returns the first error of a replica. INVALID_ARGUMENT if there are no devices.
// Reference: tf.distribute.MirroredStrategy in graph mode.
#ifndef SLUICE_TRAINING_STRATEGY_MIRRORED_STRATEGY_H_
#define SLUICE_TRAINING_STRATEGY_MIRRORED_STRATEGY_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ops/random/initializer.h"
#include "training/strategy/strategy.h"

namespace sluice {

// Programs call Run, and call MakeVariable in the function that they pass to it. Optimizers call
// the other methods. Outside of replicas, use the first copy of a variable: all copies have equal
// values between steps.
class MirroredStrategy : public Strategy {
 public:
  // One device per replica, such as "/device:CPU:1". With kMean, each replica's loss is scaled by
  // `1 / replicas`, so that gradients are those of the mean over the whole batch.
  MirroredStrategy(Graph& graph, std::vector<std::string> devices,
                   ReduceOp loss_reduction = ReduceOp::kMean);

  int num_replicas() const override { return num_local_replicas(); }
  // The number of replicas in this process.
  int num_local_replicas() const { return static_cast<int>(devices_.size()); }
  ReduceOp loss_reduction() const override { return loss_reduction_; }
  // These methods implement Strategy, which describes them.
  absl::StatusOr<PerReplica<Grad>> ReduceTo(ReduceOp op, const PerReplica<Grad>& values,
                                            const Variable& variable) override;
  std::vector<Variable> Components(const Variable& variable) const override;

  // Returns this replica's copy of the variable `name`. Must be called in a replica context. The
  // first replica that requests `name` creates all copies, outside of the open scopes; shape and
  // options of later calls are ignored. Only the first copy is in the collection of trainable
  // variables. The result is invalid after an error.
  Variable MakeVariable(std::string_view name, const PartialShape& shape,
                        const Initializer& initializer, const VariableOptions& options = {});
  // Returns the copy of a variable for the calling thread's replica, or the first copy if the
  // thread is not in a replica context.
  Variable Local(const Variable& variable) const;

  // Calls `program` in each replica's context, returns when all have ended, and returns the first
  // error. FAILED_PRECONDITION if the replicas do not call MergeCall equally often.
  absl::Status RunReplicas(const std::function<absl::Status(ReplicaContext&)>& program);
  // Like RunReplicas, for programs with a result. Returns one result per replica.
  template <typename T>
  absl::StatusOr<PerReplica<T>> Run(
      const std::function<absl::StatusOr<T>(ReplicaContext&)>& program);

 protected:
  // Returns the initializer for the first copy of a variable. `initializer` is that of the program.
  // A derived class may replace it, for example to receive the value from another worker.
  virtual Initializer SharedInitializer(const Initializer& initializer) { return initializer; }
  static Grad Scaled(const Grad& grad, double factor);

 private:
  friend class MirroredReplica;
  struct Meeting;

  Graph& graph_;
  std::vector<std::string> devices_;
  ReduceOp loss_reduction_;
  // By the name of the first copy: all copies of the variable.
  std::map<std::string, std::vector<Variable>, std::less<>> mirrored_;
  std::map<std::string, std::string, std::less<>> first_of_;  // name of a copy -> name of the first
};

template <typename T>
absl::StatusOr<PerReplica<T>> MirroredStrategy::Run(
    const std::function<absl::StatusOr<T>(ReplicaContext&)>& program) {
  PerReplica<T> results(devices_.size());
  const absl::Status status = RunReplicas([&](ReplicaContext& replica) {
    absl::StatusOr<T> result = program(replica);
    if (result.ok()) results[replica.replica()] = *std::move(result);
    return result.status();
  });
  if (!status.ok()) return status;
  return results;
}

}  // namespace sluice

#endif  // SLUICE_TRAINING_STRATEGY_MIRRORED_STRATEGY_H_
