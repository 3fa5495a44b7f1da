// Collects gradients of one variable until enough are there, and drops those that are stale.
//
//   A1. A gradient computed at a step below the current one is dropped, and counted as dropped.
//   A2. Whoever takes gets all gradients that were added since the last take, at least as many as
//       he asked for; with it the current step grows by one.
//   A3. Takers are served in the order in which they came.
// Told that `at_most` gradients make an update, it drops a further one as surplus, so that a taker
// gets exactly so many. Told to go in replica order, it keeps gradients until they are taken, and
// adds them up by replica (those of one replica as they came): the bits do not depend on the order
// of arrival.
// One that is told of replicas goes back where SetGlobalStep gives it a lower step, as a queue of
// gradients does (gradient_queue.h, G3): a chief was lost, or an older model was restored. Who
// still waits to take ends then.
//
// Thread safety: all methods may be called from any thread.
// Blocking: none blocks a thread. A taker's callback is called exactly once, never while this lock
//   is held: at once, by whoever adds the last gradient or asks for fewer, or when the taker is
//   cancelled.
// Errors: INVALID_ARGUMENT on a wrong type or shape and on num_required < 1; CANCELLED.
#ifndef SLUICE_OPS_DATAFLOW_CONDITIONAL_ACCUMULATOR_H_
#define SLUICE_OPS_DATAFLOW_CONDITIONAL_ACCUMULATOR_H_

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/device/resource_manager.h"
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

  // Adds a gradient that was computed at `local_step`.
  absl::Status Apply(const Caller& caller, int64_t local_step, GivenGradient gradient,
                     bool has_known_shape, const Parallel& parallel);
  // The reduced gradients, in the same form, once there are `num_required`.
  void Take(const Caller& caller, int64_t num_required, const Parallel& parallel, Taken taken);
  // The same where nobody has to wait for them.
  std::optional<absl::StatusOr<GradientTensors>> TakeAtOnce(const Caller& caller,
                                                            int64_t num_required,
                                                            const Parallel& parallel);
  // Gradients of steps below are dropped from now on. Told of replicas: a chief starts.
  void SetGlobalStep(int64_t step);
  // An update has so many gradients, at least one, or as many as its taker asks for, if that is
  // less. A smaller number holds at once, also for takers that wait; a larger one after the next
  // update.
  void SetUpdateSize(int64_t gradients);

  // Since the accumulator was made; the last two numbers are of now.
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

  absl::Status Add(const Caller& caller, int64_t local_step, GivenGradient gradient,
                   const Parallel& parallel);  // lock held
  // Adds up what was kept. Lock held.
  absl::Status AddInOrder(const Caller& caller, const Parallel& parallel);
  // These with the lock held.
  bool HasEnough(int64_t num_required) const { return counts_.accumulated >= Needed(num_required); }
  // All gradients that are there, as the sum of one update.
  absl::Status TakeSum(const Caller& caller, const Parallel& parallel, GradientSum::Taken* sum);
  void TryTakers(const Caller& caller, const Parallel& parallel, Line* complete);  // lock held
  void Finish(Line complete, const Parallel& parallel);
  void Cancel(int64_t id);
  // Lock held.
  int64_t Most() const;  // gradients of an update; 0: no bound
  int64_t Needed(int64_t num_required) const;
  void GoTo(int64_t step);
  bool IsStale(int64_t local_step) const {
    return local_step < counts_.global_step ||
           (local_step > counts_.global_step && local_step <= undone_until_);
  }
  std::string State(int64_t num_required) const;  // lock held; 0 = of nobody

  const std::string name_;
  const Kind kind_;
  const DataType dtype_;
  const Reduction reduction_;
  const ReplicaGradients replicas_;

  mutable std::mutex mutex_;
  const std::unique_ptr<GradientSum> sum_;  // guarded by mutex_, but for Finish
  Counts counts_;                           // guarded by mutex_
  int64_t undone_until_ = -1;  // the last step that it went back from; guarded by mutex_
  // One an accumulated gradient, as they came.
  struct Present {
    int replica;
    int64_t local_step;
  };
  std::vector<Present> present_;  // guarded by mutex_
  // In replica order: what is not added up yet, by replica.
  std::multimap<int, GradientTensors> kept_;  // guarded by mutex_
  Line takers_;                               // guarded by mutex_
  int64_t update_size_ = 0;                   // 0: as takers ask; guarded by mutex_
  int64_t next_update_size_ = 0;              // of the update after this one; guarded by mutex_
  int64_t next_id_ = 1;                       // guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_OPS_DATAFLOW_CONDITIONAL_ACCUMULATOR_H_
