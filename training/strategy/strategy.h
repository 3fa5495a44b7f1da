// A distribution strategy: builds one program for several replicas of a model.
//
//   MirroredStrategy strategy(g, {"/device:CPU:0", "/device:CPU:1"});
//   absl::StatusOr<PerReplica<Operation>> train = strategy.Run<Operation>([&](ReplicaContext& r) {
//     Output loss = Model(g, Share(batch, r.replica()));
//     return optimizer.Minimize(loss);
//   });
//
// The program is called once per replica, in a replica context with its own device, name scope and
// other scopes. If replicas have to act together, for example to sum their gradients, each calls
// MergeCall. The last call runs the function once, in a cross-replica context, with the arguments
// of all replicas.
// Reference: tf.distribute.Strategy in graph mode.
//
// Thread safety: none, except for MergeCall. Replicas run in threads, one at a time. The context
// belongs to the calling thread.
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

// One value per replica, in their order.
template <typename T>
using PerReplica = std::vector<T>;

// A replica's view of its strategy.
class ReplicaContext {
 public:
  // Runs in the cross-replica context, with one argument and one result per replica.
  using MergeFunction =
      std::function<absl::StatusOr<PerReplica<std::any>>(Strategy& strategy, PerReplica<std::any>)>;

  virtual ~ReplicaContext() = default;
  virtual Strategy& strategy() = 0;
  virtual int replica() const = 0;  // counted from 0
  // Waits for all replicas to call it, then runs `function` once, in the thread of the last one.
  // The functions of all replicas must be equivalent. FAILED_PRECONDITION if a replica ends without
  // calling it.
  virtual absl::StatusOr<std::any> MergeCall(const MergeFunction& function, std::any argument) = 0;
};

// The operation that combines the values of replicas.
enum class ReduceOp { kSum, kMean };

class Strategy {
 public:
  virtual ~Strategy() = default;

  virtual int num_replicas() const = 0;
  // kMean: minimizes the mean of the replicas' losses, so each loss is scaled by 1 / num_replicas.
  // kSum: minimizes their sum.
  virtual ReduceOp loss_reduction() const { return ReduceOp::kMean; }
  // Combines the replicas' gradients of `variable`. Returns one gradient per component (copy) of
  // the variable, on the component's device. They are empty if no replica has a gradient.
  virtual absl::StatusOr<PerReplica<Grad>> ReduceTo(ReduceOp op, const PerReplica<Grad>& values,
                                                    const Variable& variable) = 0;
  // The copies of a variable, one per replica. For a variable that the strategy did not create: the
  // variable itself.
  virtual std::vector<Variable> Components(const Variable& variable) const = 0;
  // Calls `update` once per component, on its device and in the name scope update_<i>.
  absl::StatusOr<std::vector<Operation>> Update(
      const Variable& variable,
      const std::function<absl::StatusOr<Operation>(const Variable& component, int replica)>&
          update);
};

// The context of the calling thread.
struct StrategyContext {
  Strategy* strategy = nullptr;       // null: the default strategy
  ReplicaContext* replica = nullptr;  // null: cross-replica or default context
};
const StrategyContext& CurrentStrategy();
bool HasStrategy();
// Whether the calling thread is in the cross-replica context of a strategy. False without a
// strategy.
bool InCrossReplicaContext();

// Sets the calling thread's context during its lifetime.
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
