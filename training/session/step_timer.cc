#include "training/session/step_timer.h"

#include "graph/status.h"

namespace sluice {

absl::Status StepTimer::Check() const {
  SLUICE_INVALID_IF(!every_.secs && !every_.steps,
                    "Either every_secs or every_steps should be provided.");
  SLUICE_INVALID_IF(every_.secs && every_.steps,
                    "Can not provide both every_secs and every_steps.");
  return absl::OkStatus();
}

void StepTimer::Reset() { last_step_.reset(); }

bool StepTimer::IsDue(int64_t step) const {
  if (!last_step_) return true;
  if (step == *last_step_) return false;
  if (every_.secs && clock_->Now() >= last_time_ + Clock::Duration(*every_.secs)) return true;
  // A difference, because a sum overflows if the largest number stands for "never".
  return every_.steps && step - *last_step_ >= *every_.steps;
}

std::optional<StepTimer::Elapsed> StepTimer::Done(int64_t step) {
  const Clock::Duration now = clock_->Now();
  std::optional<Elapsed> elapsed;
  if (last_step_) elapsed = Elapsed{now - last_time_, step - *last_step_};
  last_time_ = now;
  last_step_ = step;
  return elapsed;
}

}  // namespace sluice
