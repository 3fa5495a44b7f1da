// A strategy of distribution: one program that is built for several replicas of a model.
//
//   MirroredStrategy strategy(g, {"/device:CPU:0", "/device:CPU:1"});
//   absl::StatusOr<PerReplica<Operation>> train = strategy.Run<Operation>([&](ReplicaContext& r) {
//     Output loss = Model(g, Share(batch, r.replica()));
//     return optimizer.Minimize(loss);
//   });
//
// The program is run once a replica, each in a replica context: its own device, name scope and
// open scopes. Where replicas have to act as one (an optimizer that sums their gradients) they meet
// in MergeCall: the first ones wait, and the function runs once, in a cross-replica context, with
// what each of them brought.
// Reference behaviour: tf.distribute.Strategy in graph mode.
//
// Thread safety: none but what MergeCall needs: replicas run in threads, of which one is awake at a
// time. The context is the calling thread's.
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

// A value a replica, in their order.
template <typename T>
using PerReplica = std::vector<T>;

// What a replica sees of its strategy.
class ReplicaContext {
 public:
  // Runs in the cross-replica context, with one argument a replica; gives one result a replica.
  using MergeFunction =
      std::function<absl::StatusOr<PerReplica<std::any>>(Strategy& strategy, PerReplica<std::any>)>;

  virtual ~ReplicaContext() = default;
  virtual Strategy& strategy() = 0;
  virtual int replica() const = 0;  // from 0
  // The function of the last replica to come is run; those of the others must do the same.
  // FAILED_PRECONDITION where a replica ends without coming.
  virtual absl::StatusOr<std::any> MergeCall(const MergeFunction& function, std::any argument) = 0;
};

// What to do with the values of replicas.
enum class ReduceOp { kSum, kMean };

class Strategy {
 public:
  virtual ~Strategy() = default;

  virtual int num_replicas() const = 0;
  // What the losses of the replicas stand for: kMean: the mean of them is minimized, so each
  // replica's is scaled by 1 / num_replicas; kSum: their sum.
  virtual ReduceOp loss_reduction() const { return ReduceOp::kMean; }
  // One gradient a component of `variable`, on its device. None where no replica has one.
  virtual absl::StatusOr<PerReplica<Grad>> ReduceTo(ReduceOp op, const PerReplica<Grad>& values,
                                                    const Variable& variable) = 0;
  // The copies of a variable, one a replica; of a variable that the strategy does not know, itself.
  virtual std::vector<Variable> Components(const Variable& variable) const = 0;
  // Calls `update` once a component, under its device and the name scope update_<i>.
  absl::StatusOr<std::vector<Operation>> Update(
      const Variable& variable,
      const std::function<absl::StatusOr<Operation>(const Variable& component, int replica)>&
          update);
};

// Which context the calling thread is in.
struct StrategyContext {
  Strategy* strategy = nullptr;       // null: none, the default
  ReplicaContext* replica = nullptr;  // null: cross-replica, or none
};
const StrategyContext& CurrentStrategy();
bool HasStrategy();
// False where there is no strategy at all.
bool InCrossReplicaContext();

// The calling thread is in `context` as long as this lives.
class StrategyScope {
 public:
  explicit StrategyScope(const StrategyContext& context);
  // Cross-replica, as by `with strategy.scope()`.
  explicit StrategyScope(Strategy& strategy) : StrategyScope(StrategyContext{&strategy, nullptr}) {}
  ~StrategyScope();
  StrategyScope(const StrategyScope&) = delete;
  StrategyScope& operator=(const StrategyScope&) = delete;

 private:
  StrategyContext previous_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_STRATEGY_STRATEGY_H_
