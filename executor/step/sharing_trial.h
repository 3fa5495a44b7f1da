// Whether the loops of a step are shared with other threads, found out by trying.
//
// What one core hands to another costs little or much, as near as they are to each other, which
// changes where a host moves virtual cores about; a step of small loops may take half as long again
// by two threads as by one. So now and then a few steps are timed, and then a few the other way; if
// that is quicker three times in a row, it stays. Of the time of all steps, half a percent is lost
// by trying.
//
// Thread safety: none; one step at a time.
#ifndef SLUICE_EXECUTOR_STEP_SHARING_TRIAL_H_
#define SLUICE_EXECUTOR_STEP_SHARING_TRIAL_H_

#include <cstdint>

namespace sluice {

class SharingTrial {
 public:
  // `helpers`: other threads that there are.
  explicit SharingTrial(int helpers);

  // Counts a step that begins. True: it is of a trial, runs as `shares` says, and its time has to
  // be told, or that it has failed.
  bool Begins() { return --steps_left_ < 0; }
  bool shares() const { return shares_; }
  // Of steps that are not.
  bool usually_shares() const {
    const bool is_other = phase_ == Phase::kFirstOther || phase_ == Phase::kOtherWay;
    return is_other ? !shares_ : shares_;
  }
  void Took(int64_t ns);
  void Failed();

 private:
  enum class Phase { kThisWay, kFirstOther, kOtherWay, kBack };

  void Turn() { shares_ = !shares_; }
  void Rest(int64_t steps);
  void Decide();

  bool shares_ = true;
  int64_t steps_left_;  // until the next trial; less than 0: it is under way
  Phase phase_ = Phase::kThisWay;
  int num_timed_ = 0;      // of the phase
  int64_t this_way_ = 0;   // the shortest time, ns
  int64_t other_way_ = 0;  // likewise
  int64_t lost_ns_ = 0;
  int wins_ = 0;  // of the other way, one after the other
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_STEP_SHARING_TRIAL_H_
