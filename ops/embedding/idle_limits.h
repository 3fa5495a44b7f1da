// Decides which keys of an embedding table are idle, by the steps and times of an EvictionRule
// (table_rules.h). Idle keys lose their records, which store their rows, and have their initial
// rows again.
//
// A key is idle if the step of its last update is less than a limit. Limits grow with the latest
// step, so an idle key stays idle unless it is updated. Lookups and updates treat the record of an
// idle key as removed. So results do not depend on when the record is really removed.
//
// A step becomes the latest one when its first update begins (Begin), after the lookups of the same
// step. Lookups use the limits of the latest step. Updates use the limits of the step before, as
// the lookups of the same step did. So a key that becomes idle with a step can still be updated in
// this step.
//
// Records do not store times. Instead the table remembers when some of the last steps began. A key
// whose last update was at a step before s had no update since step s began.
//
// Thread safety: all methods may be called from any thread. ForLookups and ForUpdates take no lock.
#ifndef SLUICE_OPS_EMBEDDING_IDLE_LIMITS_H_
#define SLUICE_OPS_EMBEDDING_IDLE_LIMITS_H_

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "graph/mutex.h"
#include "ops/embedding/table_rules.h"

namespace sluice {

class IdleLimits {
 public:
  // Returns milliseconds since an arbitrary moment. Never goes back.
  using Clock = std::function<int64_t()>;
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::min();

  // If `clock` is null, uses the steady clock.
  IdleLimits(const EvictionRule& rule, Clock clock)
      : rule_(rule), clock_(clock != nullptr ? std::move(clock) : SteadyMilliseconds) {}

  // A key is idle if the step of its last update is less than `all`. A key whose row has a norm
  // below EvictionRule::min_norm is also idle if the step of its last update is less than `small`.
  struct Limits {
    int64_t all, small;
  };
  Limits ForLookups() const { return LimitsAt(latest(), began_before_.load()); }
  Limits ForUpdates() const { return LimitsAt(latest() - 1, began_before_previously_.load()); }

  int64_t latest() const { return latest_.load(); }
  // Makes `step` the latest step, unless it is earlier. Call it when an update of step `step`
  // begins.
  void Begin(int64_t step) {
    if (step <= latest()) return;
    ScopedLock lock(&mutex_);
    if (step <= latest()) return;
    if (rule_.idle_seconds > 0) PassTime(step);
    latest_.store(step);
  }
  // Makes `step` the latest step, unless it is earlier. Call it when a record whose last update was
  // at `step` is copied into the table, for example from a checkpoint.
  void Raise(int64_t step) {
    ScopedLock lock(&mutex_);
    latest_.store(std::max(latest(), step));
  }

  // The state for checkpoints. Times are relative to now, because clocks of processes differ.
  struct State {
    int64_t latest = 0;
    int64_t began_before = kNever, began_before_previously = kNever;
    std::vector<std::pair<int64_t, int64_t>> ages;  // step, milliseconds since it began
  };
  State state() const {
    ScopedLock lock(&mutex_);
    State state{latest(), began_before_.load(), began_before_previously_.load(), {}};
    for (const auto& [step, begin] : begins_) state.ages.emplace_back(step, clock_() - begin);
    return state;
  }
  void Restore(const State& state) {
    ScopedLock lock(&mutex_);
    latest_.store(state.latest);
    began_before_.store(state.began_before);
    began_before_previously_.store(state.began_before_previously);
    begins_.clear();
    interval_begin_.reset();
    const int64_t now = clock_();
    for (const auto& [step, age] : state.ages) begins_.emplace_back(step, now - age);
  }

 private:
  static int64_t SteadyMilliseconds() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  }

  Limits LimitsAt(int64_t step, int64_t began_before) const {
    return {rule_.idle_steps > 0 ? std::max(step - rule_.idle_steps, began_before) : began_before,
            rule_.min_norm > 0 ? step - rule_.min_norm_steps : kNever};
  }

  // Updates the limits that depend on time, when `step` begins. Remembers the last step of each
  // interval of idle_seconds / 64. So a key becomes idle at most one interval too late, however
  // irregular the steps are. After a restore from parts that were saved one after the other, the
  // key may become idle later, by at most the time between these saves.
  void PassTime(int64_t step) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto span = static_cast<int64_t>(static_cast<double>(rule_.idle_seconds) * 1000);
    const int64_t now = clock_();
    int64_t before = began_before_.load();
    began_before_previously_.store(before);
    for (; !begins_.empty() && now - begins_.front().second > span; begins_.pop_front()) {
      before = std::max(before, begins_.front().first);
      if (begins_.size() == 1) interval_begin_.reset();
    }
    began_before_.store(before);
    if (interval_begin_ && now - *interval_begin_ < span / 64) {
      begins_.back() = {step, now};
    } else {
      begins_.emplace_back(step, now);
      interval_begin_ = now;
    }
  }

  const EvictionRule rule_;
  const Clock clock_;
  std::atomic<int64_t> latest_{0};
  // began_before_ is the latest step that began longer ago than rule_.idle_seconds.
  // began_before_previously_ is the value that began_before_ had before the latest step.
  std::atomic<int64_t> began_before_{kNever}, began_before_previously_{kNever};
  mutable Mutex mutex_;                                                     // held to change state
  std::deque<std::pair<int64_t, int64_t>> begins_ ABSL_GUARDED_BY(mutex_);  // step, its begin
  // When the interval of the last element of begins_ began.
  std::optional<int64_t> interval_begin_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_OPS_EMBEDDING_IDLE_LIMITS_H_
