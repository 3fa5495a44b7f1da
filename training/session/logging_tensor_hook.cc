#include "training/session/logging_tensor_hook.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "graph/status.h"
#include "training/session/global_step_read.h"

namespace sluice {
namespace {

constexpr int kBarWidth = 20;
constexpr int64_t kValuesShown = 10;

std::string Shown(const Tensor& value) {
  const std::string values = value.SummarizeValues(kValuesShown);
  return value.rank() == 0 ? values : StrCat("[", values, "]");
}

}  // namespace

LoggingTensorHook::LoggingTensorHook(TaggedTensors tensors, LoggingTensorOptions options)
    : tensors_(std::move(tensors)),
      options_(std::move(options)),
      timer_(options_.every, options_.clock) {}

absl::Status LoggingTensorHook::Begin(Graph& graph) {
  const Every& every = options_.every;
  const bool only_at_end = options_.at_end && !every.steps && !every.secs;
  SLUICE_INVALID_IF(
      !only_at_end && every.steps.has_value() == every.secs.has_value(),
      "either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.");
  SLUICE_INVALID_IF(every.steps && *every.steps <= 0, "invalid every_n_iter=", *every.steps, ".");
  timer_.Reset();
  iterations_ = 0;
  fetches_.clear();
  for (const auto& [tag, tensor] : tensors_) fetches_.push_back(tensor);
  live_ = options_.terminal ? std::make_unique<LiveLine>(true) : nullptr;
  has_global_step_ = false;
  if (!live_) return absl::OkStatus();
  if (const auto step = GlobalStepRead(graph, "LoggingTensorHook"); step.ok()) {
    has_global_step_ = true;
    fetches_.push_back(*step);
  }
  return absl::OkStatus();
}

absl::StatusOr<SessionRunArgs> LoggingTensorHook::BeforeRun(SessionRunContext&) {
  const bool ever = options_.every.steps || options_.every.secs;
  due_ = ever && timer_.IsDue(iterations_);
  return due_ ? SessionRunArgs{.fetches = fetches_} : SessionRunArgs();
}

absl::Status LoggingTensorHook::AfterRun(SessionRunContext&, const SessionRunValues& values) {
  if (due_) Show(values.results);
  ++iterations_;
  return absl::OkStatus();
}

absl::Status LoggingTensorHook::End(Session& session) {
  if (options_.at_end) {
    SLUICE_ASSIGN_OR_RETURN(const Tensors values, session.Run({}, fetches_));
    Show(values);
  }
  live_.reset();
  return absl::OkStatus();
}

void LoggingTensorHook::Show(const Tensors& results) {
  TaggedValues values;
  for (size_t i = 0; i < tensors_.size(); ++i) values.emplace_back(tensors_[i].first, results[i]);
  const auto elapsed = timer_.Done(iterations_);
  std::string text;
  if (options_.formatter) {
    text = options_.formatter(values);
  } else {
    text = absl::StrJoin(values, ", ", [](std::string* out, const auto& value) {
      StrAppend(out, value.first, " = ", Shown(value.second));
    });
    if (elapsed && !live_) {
      StrAppend(&text, " (", absl::StrFormat("%.3f", elapsed->time.count()), " sec)");
    }
  }
  if (live_) {
    live_->Show(has_global_step_ ? BarLine(StepOf(results.back()), text) : text);
  } else {
    LogInfo(text);
  }
}

std::string LoggingTensorHook::BarLine(int64_t step, const std::string& text) {
  const Clock::Duration now = options_.clock->Now();
  if (!start_) start_ = {now, step};
  std::string line = StrCat("step ", step);
  const int64_t last = options_.last_step.value_or(0);
  if (last > 0) {
    const double done = std::clamp(static_cast<double>(step) / static_cast<double>(last), 0.0, 1.0);
    const int marks = static_cast<int>(done * kBarWidth);
    StrAppend(&line, "/", last, " [", std::string(marks, '#'), std::string(kBarWidth - marks, '-'),
              "] ", static_cast<int>(100 * done), " %");
  }
  StrAppend(&line, "  ", text);
  const double seconds = (now - start_->first).count();
  if (seconds <= 0 || step <= start_->second) return line;
  const double rate = static_cast<double>(step - start_->second) / seconds;
  StrAppend(&line, ", ", absl::StrFormat("%.3g", rate), " steps/s");
  if (last > step) {
    const int64_t left = std::llround(static_cast<double>(last - step) / rate);
    StrAppend(&line, ", ETA ", absl::StrFormat("%d:%02d", left / 60, left % 60));
  }
  return line;
}

std::shared_ptr<SessionRunHook> Progress(TaggedTensors tensors, int64_t last_step, Every every) {
  return std::make_shared<LoggingTensorHook>(
      std::move(tensors), LoggingTensorOptions{.every = every, .last_step = last_step});
}

}  // namespace sluice
