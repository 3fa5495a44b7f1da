// Decides when an action that repeats at an interval of steps or seconds is due. Hooks use it, for
// example to save a checkpoint every 1000 steps.
//
// Reference: tf.estimator.SecondOrStepTimer. Thread safety: none.
#ifndef SLUICE_TRAINING_SESSION_STEP_TIMER_H_
#define SLUICE_TRAINING_SESSION_STEP_TIMER_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "training/loop/clock.h"

namespace sluice {

// The interval of an action, in steps or in seconds. Exactly one of the two is set.
struct Every {
  std::optional<int64_t> steps;
  std::optional<double> secs;
};

class StepTimer {
 public:
  explicit StepTimer(Every every, Clock* clock = &Clock::Real()) : every_(every), clock_(clock) {}

  // Returns INVALID_ARGUMENT "Either every_secs or every_steps should be provided." or "Can not
  // provide both every_secs and every_steps." if the interval is not valid.
  absl::Status Check() const;
  // Forgets when the action was last done.
  void Reset();
  // Whether the action should be done at `step`: if it has not been done since Reset, or if the
  // interval has passed since it was last done. False if it was last done at `step` itself.
  bool IsDue(int64_t step) const;
  struct Elapsed {
    Clock::Duration time;
    int64_t steps;
  };
  // Records that the action was done at `step`. Returns the time and the steps since the action was
  // last done, or nullopt if it was not done since Reset.
  std::optional<Elapsed> Done(int64_t step);
  std::optional<int64_t> last_step() const { return last_step_; }

 private:
  Every every_;
  Clock* clock_;
  std::optional<int64_t> last_step_;
  Clock::Duration last_time_{0};
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_STEP_TIMER_H_
