// Prints the progress of a training run: step, loss, images/s, dropped gradients, remaining time.
//
// On a terminal one line is rewritten. Otherwise plain lines are printed at intervals.
// Thread safety: none; called by one thread.
#ifndef SLUICE_DEMOS_REPORT_PROGRESS_H_
#define SLUICE_DEMOS_REPORT_PROGRESS_H_

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace sluice::demos {

struct TrainingState {
  int64_t first_step = 0;  // of this run
  int64_t step = 0;
  int64_t steps = 0;
  double loss = 0;
  int64_t images = 0;  // processed so far
  int64_t dropped_gradients = 0;
  double seconds = 0;  // since the start
};

// The state as a line: "step 120/600  loss 0.4312  15321 images/s  dropped 39  ETA 0:31".
std::string ProgressLine(const TrainingState& state);

class Progress {
 public:
  // Writes to `out`. If it is no terminal, writes plain lines at most every `plain_interval_s`
  // seconds.
  explicit Progress(std::FILE* out, double plain_interval_s = 2.0);
  ~Progress();
  void Show(const TrainingState& state);
  // Shows the state even if the interval has not passed, and ends the line on a terminal.
  void Finish(const TrainingState& state);

 private:
  std::FILE* out_;
  bool terminal_;
  double interval_s_;
  double last_shown_s_ = -1e9;
  bool open_line_ = false;
};

}  // namespace sluice::demos

#endif  // SLUICE_DEMOS_REPORT_PROGRESS_H_
