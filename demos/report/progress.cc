#include "demos/report/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>

namespace sluice::demos {
namespace {

constexpr double kTerminalInterval_s = 0.1;

std::string Eta(const TrainingState& s) {
  if (s.step <= s.first_step || s.seconds <= 0) return "-:--";
  const double left = s.seconds / static_cast<double>(s.step - s.first_step) *
                      static_cast<double>(s.steps - s.step);
  const int64_t seconds = std::llround(std::fmax(left, 0));
  return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
}

}  // namespace

std::string ProgressLine(const TrainingState& s) {
  const double rate = s.seconds > 0 ? static_cast<double>(s.images) / s.seconds : 0;
  return fmt::format("step {}/{}  loss {:.4f}  {:.0f} images/s  dropped {}  ETA {}", s.step,
                     s.steps, s.loss, rate, s.dropped_gradients, Eta(s));
}

Progress::Progress(std::FILE* out, double plain_interval_s)
    : out_(out),
      terminal_(isatty(fileno(out)) == 1),
      interval_s_(terminal_ ? kTerminalInterval_s : plain_interval_s) {}

Progress::~Progress() {
  if (open_line_) std::fputc('\n', out_);
}

void Progress::Show(const TrainingState& state) {
  if (state.seconds - last_shown_s_ < interval_s_) return;
  last_shown_s_ = state.seconds;
  const std::string line = ProgressLine(state);
  std::fprintf(out_, terminal_ ? "\r\x1b[K%s" : "%s\n", line.c_str());
  std::fflush(out_);
  open_line_ = terminal_;
}

void Progress::Finish(const TrainingState& state) {
  last_shown_s_ = -1e9;
  Show(state);
  if (open_line_) std::fputc('\n', out_);
  open_line_ = false;
}

}  // namespace sluice::demos
