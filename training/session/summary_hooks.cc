#include "training/session/summary_hooks.h"

#include "absl/strings/str_format.h"
#include "executor/files/files.h"
#include "graph/format/proto/event.pb.h"
#include "graph/status.h"
#include "ops/state/variable.h"
#include "training/loop/log.h"
#include "training/session/chrome_trace.h"
#include "training/session/global_step_read.h"

namespace sluice {
namespace {

constexpr int kWarningsMost = 5;

}  // namespace

absl::Status SummarySaverHook::Begin(Graph& graph) {
  SLUICE_INVALID_IF((options_.scaffold != nullptr) == !options_.summary_ops.empty(),
                    "Exactly one of scaffold or summary_op must be provided.");
  SLUICE_RETURN_IF_ERROR(timer_.Check());
  next_step_.reset();
  SLUICE_ASSIGN_OR_RETURN(global_step_, GlobalStepRead(graph, "SummarySaverHook"));
  return absl::OkStatus();
}

absl::StatusOr<SessionRunArgs> SummarySaverHook::BeforeRun(SessionRunContext&) {
  requested_ = !next_step_ || timer_.IsDue(*next_step_);
  SessionRunArgs args = {.fetches = {global_step_}};
  if (!requested_) return args;
  for (const Output& summary : options_.summary_ops) args.fetches.push_back(summary);
  // The scaffold creates its summary op after Begin.
  if (options_.scaffold && options_.scaffold->summary_op()) {
    args.fetches.push_back(options_.scaffold->summary_op());
  }
  return args;
}

absl::Status SummarySaverHook::AfterRun(SessionRunContext& context,
                                        const SessionRunValues& values) {
  if (!options_.events) return absl::OkStatus();
  int64_t step = StepOf(values.results[0]) + 1;
  if (!next_step_ || requested_) {
    SLUICE_ASSIGN_OR_RETURN(step, GlobalStepValue(context.session(), global_step_));
  }
  if (!next_step_) {
    pb::SessionLog log;
    log.set_status(pb::SessionLog::START);
    SLUICE_RETURN_IF_ERROR(options_.events->AddSessionLog(log, step));
  }
  if (requested_) {
    timer_.Done(step);
    for (size_t i = 1; i < values.results.size(); ++i) {
      SLUICE_RETURN_IF_ERROR(options_.events->AddSummary(values.results[i], step));
    }
  }
  next_step_ = step + 1;
  return absl::OkStatus();
}

absl::Status SummarySaverHook::End(Session&) {
  return options_.events ? options_.events->Flush() : absl::OkStatus();
}

absl::Status StepCounterHook::Begin(Graph& graph) {
  SLUICE_INVALID_IF(options_.every.steps.has_value() == options_.every.secs.has_value(),
                    "exactly one of every_n_steps and every_n_secs should be provided.");
  SLUICE_ASSIGN_OR_RETURN(global_step_, GlobalStepRead(graph, "StepCounterHook"));
  // The tag is the name of the variable, even if the tensor of the step has another name.
  const std::vector<std::string>& steps = graph.Collection(kGlobalStep);
  const std::string name = steps.empty() ? "global_step" : steps[0];
  tag_ = StrCat(name.substr(0, name.find(':')), "/sec");
  return absl::OkStatus();
}

absl::StatusOr<SessionRunArgs> StepCounterHook::BeforeRun(SessionRunContext&) {
  return SessionRunArgs{.fetches = {global_step_}};
}

absl::Status StepCounterHook::AfterRun(SessionRunContext& context, const SessionRunValues& values) {
  const int64_t read = StepOf(values.results[0]);
  if (timer_.IsDue(read + 1)) {
    SLUICE_ASSIGN_OR_RETURN(const int64_t step, GlobalStepValue(context.session(), global_step_));
    if (timer_.IsDue(step)) {
      const auto elapsed = timer_.Done(step);
      if (elapsed && elapsed->time.count() > 0) {
        const double rate = static_cast<double>(elapsed->steps) / elapsed->time.count();
        if (options_.events) {
          SLUICE_RETURN_IF_ERROR(options_.events->AddScalar(tag_, static_cast<float>(rate), step));
        }
        LogInfo(tag_, ": ", absl::StrFormat("%g", rate));
      }
    }
  }
  WarnIfStanding(read);
  return absl::OkStatus();
}

void StepCounterHook::WarnIfStanding(int64_t step) {
  if (last_step_ == step && warnings_ < kWarningsMost) {
    ++warnings_;
    LogWarning("The global step has not been increased: it is ", step,
               " as before. Optimizers increase the one that ApplyGradients or Minimize is given.");
  }
  last_step_ = step;
}

absl::Status ProfilerHook::Begin(Graph& graph) {
  SLUICE_RETURN_IF_ERROR(timer_.Check());
  next_step_.reset();
  SLUICE_ASSIGN_OR_RETURN(global_step_, GlobalStepRead(graph, "ProfilerHook"));
  return absl::OkStatus();
}

absl::StatusOr<SessionRunArgs> ProfilerHook::BeforeRun(SessionRunContext&) {
  requested_ = next_step_ && timer_.IsDue(*next_step_);
  return SessionRunArgs{.fetches = {global_step_}, .options = {.trace = requested_}};
}

absl::Status ProfilerHook::AfterRun(SessionRunContext& context, const SessionRunValues& values) {
  const int64_t read = StepOf(values.results[0]);
  // The first interval begins now, so the first trace is written at its end.
  if (!next_step_) timer_.Done(read);
  int64_t step = read + 1;
  if (requested_ && values.metadata.step_stats) {
    SLUICE_ASSIGN_OR_RETURN(step, GlobalStepValue(context.session(), global_step_));
    timer_.Done(step);
    const std::string path = JoinPath(options_.output_dir, StrCat("timeline-", step, ".json"));
    LogInfo("Saving timeline for ", step, " into '", path, "'.");
    SLUICE_RETURN_IF_ERROR(WriteFileAtomically(path, ChromeTrace(*values.metadata.step_stats)));
    if (options_.events) {
      SLUICE_RETURN_IF_ERROR(
          options_.events->AddRunMetadata(values.metadata, StrCat("step_", step)));
    }
  }
  next_step_ = step + 1;
  return absl::OkStatus();
}

}  // namespace sluice
