#include "executor/step/sharing_trial.h"

#include <algorithm>

namespace sluice {
namespace {

// The time between trials, as a multiple of the time that the last trial cost.
constexpr int64_t kRestOfLoss = 200;
// Steps before the first trial, per helper: each of five steps of a trial may be slower by one step
// time per helper.
constexpr int64_t kFirstTrial = 1000;
constexpr int64_t kLeastSteps = 200, kMostSteps = 1'000'000;
// Timed steps per mode. The shortest one counts.
constexpr int kTimed = 4;
// The other mode wins if its time is at most this part of the usual time. A smaller gain may be
// chance.
constexpr double kGain = 0.9;
// Wins in a row before the mode changes, because steps may differ in their work (sizes of batches).
constexpr int kWins = 3;
// The other mode loses at once if a step takes this many times the usual time. The first step finds
// cold caches.
constexpr double kClearLoss = 1.2, kClearLossAtFirst = 2.5;
// Longer steps are not tried: the cost of sharing is small for them, and a trial would cost most.
constexpr int64_t kLongStepNs = 10'000'000;

}  // namespace

SharingTrial::SharingTrial(int helpers) : steps_left_(kFirstTrial * helpers) {}

void SharingTrial::Took(int64_t ns) {
  switch (phase_) {
    case Phase::kUsual:
      usual_ns_ = num_timed_ == 0 ? ns : std::min(usual_ns_, ns);
      if (++num_timed_ < kTimed) return;
      if (usual_ns_ > kLongStepNs) return Rest(kLeastSteps);
      phase_ = Phase::kFirstOther;
      lost_ns_ = 0;
      return SwitchMode();
    case Phase::kFirstOther:  // its caches are cold, so it does not count
      lost_ns_ += ns - usual_ns_;
      phase_ = Phase::kOther;
      num_timed_ = 0;
      other_ns_ = ns;
      if (static_cast<double>(ns) > kClearLossAtFirst * static_cast<double>(usual_ns_)) Decide();
      return;
    case Phase::kOther:
      lost_ns_ += ns - usual_ns_;
      other_ns_ = num_timed_ == 0 ? ns : std::min(other_ns_, ns);
      if (++num_timed_ == kTimed ||
          static_cast<double>(ns) > kClearLoss * static_cast<double>(usual_ns_)) {
        Decide();
      }
      return;
    case Phase::kBack:  // its caches are cold, too
      lost_ns_ += ns - usual_ns_;
      Rest(std::max(kLeastSteps, lost_ns_ * kRestOfLoss / std::max<int64_t>(usual_ns_, 1)));
      return;
  }
}

void SharingTrial::Failed() {
  shares_ = usually_shares();
  Rest(kLeastSteps);
}

void SharingTrial::Decide() {
  const bool gains = static_cast<double>(other_ns_) < kGain * static_cast<double>(usual_ns_);
  wins_ = gains ? wins_ + 1 : 0;
  if (wins_ == kWins) {
    wins_ = 0;
    return Rest(kLeastSteps);
  }
  SwitchMode();
  if (gains) return Rest(0);
  phase_ = Phase::kBack;
}

void SharingTrial::Rest(int64_t steps) {
  steps_left_ = std::min(steps, kMostSteps);
  phase_ = Phase::kUsual;
  num_timed_ = 0;
}

}  // namespace sluice
