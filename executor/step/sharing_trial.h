// Finds out by trials whether steps are faster with helper threads or without them.
//
// Sharing small loops with another core may take longer than running them on one core. The cost
// depends on the distance between the cores, which changes when a hypervisor moves the virtual
// cores of its machine. So a trial measures a few steps in the usual mode (with or without
// helpers), and then a few in the other mode. The other mode becomes the usual one if it is clearly
// faster in three trials in a row. Trials cost at most half a percent of the time of all steps.
//
// Thread safety: none. To be used for one step at a time.
#ifndef SLUICE_EXECUTOR_STEP_SHARING_TRIAL_H_
#define SLUICE_EXECUTOR_STEP_SHARING_TRIAL_H_

#include <cstdint>

namespace sluice {

class SharingTrial {
 public:
  // `helpers` is the number of helper threads.
  explicit SharingTrial(int helpers);

  // To be called at the beginning of each step. Returns true if the step belongs to a trial. The
  // step must then use helpers exactly if shares() is true. At its end it calls Took with its
  // duration, or Failed.
  bool Begins() { return --steps_left_ < 0; }
  bool shares() const { return shares_; }
  // Whether steps outside trials use helpers.
  bool usually_shares() const {
    const bool is_other = phase_ == Phase::kFirstOther || phase_ == Phase::kOther;
    return is_other ? !shares_ : shares_;
  }
  void Took(int64_t ns);
  void Failed();

 private:
  enum class Phase { kUsual, kFirstOther, kOther, kBack };

  void SwitchMode() { shares_ = !shares_; }
  void Rest(int64_t steps);
  void Decide();

  bool shares_ = true;
  int64_t steps_left_;  // until the next trial; negative during a trial
  Phase phase_ = Phase::kUsual;
  int num_timed_ = 0;     // steps timed in this phase
  int64_t usual_ns_ = 0;  // the shortest step in the usual mode
  int64_t other_ns_ = 0;  // the shortest step in the other mode
  int64_t lost_ns_ = 0;   // sum of time above usual_ns_ of the steps of this trial
  int wins_ = 0;          // number of trials in a row that the other mode won
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_STEP_SHARING_TRIAL_H_
