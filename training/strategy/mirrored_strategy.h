// Copies of a model on several devices of one process, trained as one: each variable has a copy a
// device, and all copies get the same update, by the sum of the replicas' gradients.
//
// The first replica builds what the default strategy would; replica k puts its ops under the name
// scope replica_<k>, on its device. A variable is made once for all replicas, by MakeVariable: "w"
// on the first device, "w/replica_1" on the second, which begins as a copy of "w".
// Reference behaviour: tf.distribute.MirroredStrategy in graph mode.
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

class MirroredStrategy : public Strategy {
 public:
  // Devices such as "/device:CPU:1", one a replica.
  MirroredStrategy(Graph& graph, std::vector<std::string> devices,
                   ReduceOp loss_reduction = ReduceOp::kMean);

  int num_replicas() const override { return num_local_replicas(); }
  // Of this process.
  int num_local_replicas() const { return static_cast<int>(devices_.size()); }
  ReduceOp loss_reduction() const override { return loss_reduction_; }
  absl::StatusOr<PerReplica<Grad>> ReduceTo(ReduceOp op, const PerReplica<Grad>& values,
                                            const Variable& variable) override;
  std::vector<Variable> Components(const Variable& variable) const override;

  // In a replica context: this replica's copy. The first replica that asks for `name` makes all.
  Variable MakeVariable(std::string_view name, const PartialShape& shape,
                        const Initializer& initializer, const VariableOptions& options = {});
  // The copy of a variable on the calling thread's replica; elsewhere the first.
  Variable Local(const Variable& variable) const;

  // Calls `program` in each replica's context. Its errors: the first one; FAILED_PRECONDITION where
  // replicas do not meet in the same MergeCalls.
  absl::Status RunReplicas(const std::function<absl::Status(ReplicaContext&)>& program);
  template <typename T>
  absl::StatusOr<PerReplica<T>> Run(
      const std::function<absl::StatusOr<T>(ReplicaContext&)>& program);

 protected:
  // What the first copy of a variable begins with.
  virtual Initializer SharedInitializer(const Initializer& initializer) { return initializer; }
  static Grad Scaled(const Grad& grad, double factor);

 private:
  friend class MirroredReplica;
  struct Meeting;

  Graph& graph_;
  std::vector<std::string> devices_;
  ReduceOp loss_reduction_;
  std::map<std::string, std::vector<Variable>, std::less<>> mirrored_;  // by the first one's name
  std::map<std::string, std::string, std::less<>> first_of_;            // a copy's name -> first's
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
