// A distribution strategy trains several replicas (copies) of a model, each on its own device. It
// calls the program, a function that builds the model, once per replica.
//
//   MirroredStrategy strategy(g, {"/device:CPU:0", "/device:CPU:1"});
//   absl::StatusOr<PerReplica<Operation>> train = strategy.Run<Operation>([&](ReplicaContext& r) {
//     Output loss = Model(g, Share(batch, r.replica()));
//     return optimizer.Minimize(loss);
//   });
//
// Each call has its own replica context, device, name scope and other scopes. If replicas have to
// act together, for example to sum their gradients, each calls MergeCall with a function and an
// argument. The last of these calls runs the function once, in a cross-replica context, which
// belongs to no single replica. The function gets the arguments of all replicas.
// Reference: tf.distribute.Strategy in graph mode.
//
// Thread safety: none, except for MergeCall. The program runs in one thread per replica, and only
// one of these threads runs at a time. Each thread has its own context.
#ifndef SLUICE_TRAINING_STRATEGY_STRATEGY_H_
#define SLUICE_TRAINING_STRATEGY_STRATEGY_H_

#include <any>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/gradient/gradients.h"
#include "ops/state/variable.h"

namespace sluice {

class Strategy;

// One value per replica of this process, in the order of ReplicaContext::replica().
template <typename T>
using PerReplica = std::vector<T>;

// The strategy gives the program of each replica a ReplicaContext, by which it learns its number
// and acts together with the other replicas.
class ReplicaContext {
 public:
  // A function for MergeCall. It runs in the cross-replica context. It gets the arguments of all
  // replicas, and returns one result per replica.
  using MergeFunction =
      std::function<absl::StatusOr<PerReplica<std::any>>(Strategy& strategy, PerReplica<std::any>)>;

  virtual ~ReplicaContext() = default;
  virtual Strategy& strategy() = 0;
  virtual int replica() const = 0;  // counted from 0, within this process
  // Waits until all replicas of this process have called MergeCall. The last call runs its
  // `function` once, with the arguments of all replicas. Returns the function's result for this
  // replica. The functions of all replicas must be equivalent. FAILED_PRECONDITION if a replica
  // ends without calling MergeCall.
  virtual absl::StatusOr<std::any> MergeCall(const MergeFunction& function, std::any argument) = 0;
};

// The operation that combines the values of replicas.
enum class ReduceOp { kSum, kMean };

class Strategy {
 public:
  virtual ~Strategy() = default;

  // The number of replicas in all processes.
  virtual int num_replicas() const = 0;
  // What optimizers minimize. kMean: the mean of the replicas' losses, so each loss is scaled by
  // 1 / num_replicas(). kSum: the sum of the losses.
  virtual ReduceOp loss_reduction() const { return ReduceOp::kMean; }
  // Combines the replicas' gradients with respect to `variable`. `values` has one gradient per
  // replica. Returns one gradient per component (copy) of the variable, computed on the component's
  // device. The returned gradients are none if all `values` are none.
  virtual absl::StatusOr<PerReplica<Grad>> ReduceTo(ReduceOp op, const PerReplica<Grad>& values,
                                                    const Variable& variable) = 0;
  // Returns the copies of a variable, one per replica of this process. For a variable that the
  // strategy did not create, returns only the variable itself.
  virtual std::vector<Variable> Components(const Variable& variable) const = 0;
  // Calls update(component i, i) for each component i of `variable`. The nodes that `update` adds
  // are on the component's device, in the name scope update_<i>. Returns the operations that
  // `update` returns, or its first error.
  absl::StatusOr<std::vector<Operation>> Update(
      const Variable& variable,
      const std::function<absl::StatusOr<Operation>(const Variable& component, int replica)>&
          update);
};

// The strategy and replica for which a thread builds nodes. Each thread has its own context, which
// CurrentStrategy returns.
struct StrategyContext {
  Strategy* strategy = nullptr;       // null: default context, without a strategy
  ReplicaContext* replica = nullptr;  // null: cross-replica or default context
};
const StrategyContext& CurrentStrategy();
bool HasStrategy();
// Whether the calling thread is in the cross-replica context of a strategy. False without a
// strategy.
bool InCrossReplicaContext();

// Sets the calling thread's context, and restores the previous one when it is destroyed.
class StrategyScope {
 public:
  explicit StrategyScope(const StrategyContext& context);
  // Enters the cross-replica context, like `with strategy.scope()`.
  explicit StrategyScope(Strategy& strategy) : StrategyScope(StrategyContext{&strategy, nullptr}) {}
  ~StrategyScope();
  StrategyScope(const StrategyScope&) = delete;
  StrategyScope& operator=(const StrategyScope&) = delete;

 private:
  StrategyContext previous_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_STRATEGY_STRATEGY_H_
