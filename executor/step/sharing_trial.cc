#include "executor/step/sharing_trial.h"

#include <algorithm>

namespace sluice {
namespace {

// Time that passes between trials, as a multiple of what the last one lost.
constexpr int64_t kRestOfLoss = 200;
constexpr int64_t kFirstTrial = 1000;  // steps for each helper: five of a trial may lose one each
constexpr int64_t kLeastSteps = 200, kMostSteps = 1'000'000;
// Steps each way, of which the shortest counts.
constexpr int kTimed = 4;
// Of the time: what takes more is no gain, but chance.
constexpr double kGain = 0.9;
// As often in a row it has to be quicker: steps may have more or less to do, as batches are large
// or small.
constexpr int kWins = 3;
// More is a loss that need not be timed again; at first, when nothing lies where it is wanted.
constexpr double kClearLoss = 1.2, kClearLossAtFirst = 2.5;
// What takes longer does not wait for what is handed over, and would lose most by a trial.
constexpr int64_t kLongStepNs = 10'000'000;

}  // namespace

SharingTrial::SharingTrial(int helpers) : steps_left_(kFirstTrial * helpers) {}

void SharingTrial::Took(int64_t ns) {
  switch (phase_) {
    case Phase::kThisWay:
      this_way_ = num_timed_ == 0 ? ns : std::min(this_way_, ns);
      if (++num_timed_ < kTimed) return;
      if (this_way_ > kLongStepNs) return Rest(kLeastSteps);
      phase_ = Phase::kFirstOther;
      lost_ns_ = 0;
      return Turn();
    case Phase::kFirstOther:  // finds nothing where it left it: does not count
      lost_ns_ += ns - this_way_;
      phase_ = Phase::kOtherWay;
      num_timed_ = 0;
      other_way_ = ns;
      if (static_cast<double>(ns) > kClearLossAtFirst * static_cast<double>(this_way_)) Decide();
      return;
    case Phase::kOtherWay:
      lost_ns_ += ns - this_way_;
      other_way_ = num_timed_ == 0 ? ns : std::min(other_way_, ns);
      if (++num_timed_ == kTimed ||
          static_cast<double>(ns) > kClearLoss * static_cast<double>(this_way_)) {
        Decide();
      }
      return;
    case Phase::kBack:  // finds as little
      lost_ns_ += ns - this_way_;
      Rest(std::max(kLeastSteps, lost_ns_ * kRestOfLoss / std::max<int64_t>(this_way_, 1)));
      return;
  }
}

// What was the other way's stays untried.
void SharingTrial::Failed() {
  shares_ = usually_shares();
  Rest(kLeastSteps);
}

void SharingTrial::Decide() {
  const bool gains = static_cast<double>(other_way_) < kGain * static_cast<double>(this_way_);
  wins_ = gains ? wins_ + 1 : 0;
  if (wins_ == kWins) {
    wins_ = 0;
    return Rest(kLeastSteps);
  }
  Turn();
  if (gains) return Rest(0);
  phase_ = Phase::kBack;
}

void SharingTrial::Rest(int64_t steps) {
  steps_left_ = std::min(steps, kMostSteps);
  phase_ = Phase::kThisWay;
  num_timed_ = 0;
}

}  // namespace sluice
