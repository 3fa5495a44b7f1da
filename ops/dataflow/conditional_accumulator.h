// Collects the gradients of one variable until there are enough for an update. Drops stale
// gradients, which were computed from an old value of the variable.
//
//   A1. A gradient computed at a step before the current one is dropped and counted as stale.
//   A2. A take (a call of Take) waits until at least as many gradients as it requires were added
//       since the previous take, and gets the mean or sum of all of them. Then the current step
//       grows by one.
//   A3. Takes are served in the order of their arrival.
//
// With a limit of `at_most` gradients in an update (ReplicaGradients), further gradients of the
// same step are dropped as surplus.
//
// With `in_replica_order`, the accumulator keeps each gradient until a take. It then adds them in
// the order of their replicas, and those of one replica in the order of arrival. So the bits of the
// sum do not depend on the order of arrival.
//
// If the replicas are known, a call of SetGlobalStep means that a chief (the replica that makes the
// updates) starts. Waiting takes belong to the previous chief and end with an error. The step may
// go back, because the previous chief was lost or an older model was restored. Gradients of undone
// updates are then stale. A GradientQueue does the same (gradient_queue.h, G3 and G4).
//
// Thread safety: all methods may be called from any thread.
// Blocking: no method blocks a thread. The callback of a take runs exactly once, without the lock:
// before Take returns, or in the later call or cancellation that ends the take.
// Errors: INVALID_ARGUMENT if a type or shape is wrong or num_required < 1; CANCELLED if the caller
// is cancelled; FAILED_PRECONDITION if another chief starts while a take waits.
#ifndef SLUICE_OPS_DATAFLOW_CONDITIONAL_ACCUMULATOR_H_
#define SLUICE_OPS_DATAFLOW_CONDITIONAL_ACCUMULATOR_H_

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/device/resource_manager.h"
#include "graph/mutex.h"
#include "graph/tensor/tensor.h"
#include "ops/dataflow/gradient_sum.h"
#include "ops/dataflow/replica_gradients.h"
#include "ops/state/wait.h"

namespace sluice {

class ConditionalAccumulator : public Resource,
                               public std::enable_shared_from_this<ConditionalAccumulator> {
 public:
  static constexpr char kTypeName[] = "N10tensorflow26ConditionalAccumulatorBaseE";
  enum class Kind { kDense, kSparse };
  using Taken = std::function<void(absl::StatusOr<GradientTensors>)>;

  // `shape` may be partial or unknown.
  ConditionalAccumulator(std::string name, Kind kind, DataType dtype, PartialShape shape,
                         Reduction reduction, ReplicaGradients replicas = {});

  // Adds a gradient that was computed at `local_step`. OK, too, if the gradient is dropped. If
  // `has_known_shape`, also checks the third tensor of a sparse gradient (its dense shape).
  absl::Status Apply(const Caller& caller, int64_t local_step, GivenGradient gradient,
                     bool has_known_shape, const Parallel& parallel);
  // Takes the reduced gradients (their mean or sum) as soon as there are `num_required`.
  void Take(const Caller& caller, int64_t num_required, const Parallel& parallel, Taken taken);
  // Takes without waiting. Returns nothing if the take would have to wait, if the caller is
  // cancelled or if num_required < 1. Call Take then.
  std::optional<absl::StatusOr<GradientTensors>> TakeAtOnce(const Caller& caller,
                                                            int64_t num_required,
                                                            const Parallel& parallel);
  // Sets the current step. Gradients of earlier steps are dropped. If the replicas are known, the
  // call means that a chief starts at this step.
  void SetGlobalStep(int64_t step);
  // Limits the number of gradients that a take requires to `gradients`, at least 1: a take with a
  // larger num_required waits for only `gradients` gradients. A limit that is smaller than the
  // current one applies immediately, also to waiting takes. A larger limit applies after the next
  // update.
  void SetUpdateSize(int64_t gradients);

  // Counts since the accumulator was made, except for the last two, which are current values.
  struct Counts {
    int64_t applied = 0;
    int64_t dropped_as_stale = 0;
    int64_t dropped_as_surplus = 0;
    int64_t updates = 0;
    int64_t accumulated = 0;
    int64_t global_step = 0;
  };
  Counts counts() const;
  Kind kind() const { return kind_; }
  DataType dtype() const { return dtype_; }
  std::string DebugString() const override;

 private:
  struct Taker {
    int64_t id;
    int64_t num_required;
    Caller caller;
    Taken taken;
    Wait wait;
    GradientSum::Taken sum;
    absl::Status status;
  };
  using Line = std::list<Taker>;

  // A gradient that was added since the last take.
  struct Present {
    int replica;
    int64_t local_step;
  };

  absl::Status Add(const Caller& caller, int64_t local_step, GivenGradient gradient,
                   const Parallel& parallel) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Adds the gradients that were kept, in replica order.
  absl::Status AddInOrder(const Caller& caller, const Parallel& parallel)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasEnough(int64_t num_required) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return counts_.accumulated >= Needed(num_required);
  }
  // Takes all gradients, as the sum for one update. If they cannot be added up, drops them as
  // surplus and returns the error: there is no update, and the global step stays.
  absl::Status TakeSum(const Caller& caller, const Parallel& parallel, GradientSum::Taken* sum)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Drops all gradients. The caller has counted them.
  void Drop() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Serves takers in order, as long as there are enough gradients, and moves them to `complete`.
  void TryTakers(const Caller& caller, const Parallel& parallel, Line* complete)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Cancel(int64_t id) ABSL_LOCKS_EXCLUDED(mutex_);
  // Reduces the sums of the takers in `complete` and calls their callbacks.
  void Finish(Line complete, const Parallel& parallel) ABSL_LOCKS_EXCLUDED(mutex_);
  // The largest number of gradients in an update. 0 for no limit.
  int64_t Most() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  int64_t Needed(int64_t num_required) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void GoTo(int64_t step) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsStale(int64_t local_step) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return local_step < counts_.global_step ||
           (local_step > counts_.global_step && local_step <= undone_until_);
  }
  // Describes the accumulator's content for messages. `num_required` is the number of gradients
  // that a take requires, or 0 if there is no take.
  std::string State(int64_t num_required) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string name_;
  const Kind kind_;
  const DataType dtype_;
  const Reduction reduction_;
  const ReplicaGradients replicas_;
  // The methods of this sum are called under the lock, except for Finish, which does not use the
  // content of the sum.
  const std::unique_ptr<GradientSum> sum_;

  mutable Mutex mutex_;
  Counts counts_ ABSL_GUARDED_BY(mutex_);
  // The greatest step from which SetGlobalStep went back, or -1 if it never did. The updates after
  // the current step, up to this one, were undone.
  int64_t undone_until_ ABSL_GUARDED_BY(mutex_) = -1;
  std::vector<Present> present_ ABSL_GUARDED_BY(mutex_);  // in the order of arrival
  // With `in_replica_order`: the gradients that have not been added yet, by replica.
  std::multimap<int, GradientTensors> kept_ ABSL_GUARDED_BY(mutex_);
  Line takers_ ABSL_GUARDED_BY(mutex_);
  int64_t update_size_ ABSL_GUARDED_BY(mutex_) = 0;  // of SetUpdateSize. 0 if it was not called
  int64_t next_update_size_ ABSL_GUARDED_BY(mutex_) = 0;  // of SetUpdateSize, after the next update
  int64_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace sluice

#endif  // SLUICE_OPS_DATAFLOW_CONDITIONAL_ACCUMULATOR_H_
