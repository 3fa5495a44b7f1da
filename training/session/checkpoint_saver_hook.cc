#include "training/session/checkpoint_saver_hook.h"

#include <utility>

#include "executor/files/files.h"
#include "graph/format/graph_def.h"
#include "graph/format/meta_graph.h"
#include "graph/format/proto/event.pb.h"
#include "graph/format/proto/meta_graph.pb.h"
#include "graph/format/text.h"
#include "graph/status.h"
#include "training/loop/log.h"
#include "training/session/global_step_read.h"

namespace sluice {
CheckpointSaverHook::CheckpointSaverHook(CheckpointSaverOptions options)
    : options_(std::move(options)),
      save_path_(JoinPath(options_.checkpoint_dir, options_.checkpoint_basename)),
      timer_(options_.every, options_.clock) {}

absl::StatusOr<ModelSaver*> CheckpointSaverHook::TheSaver() const {
  if (options_.saver) return options_.saver.get();
  if (options_.scaffold && options_.scaffold->saver()) return options_.scaffold->saver().get();
  return absl::FailedPreconditionError(
      "No items in collection savers. Please add a saver to the collection or provide a saver or "
      "scaffold.");
}

absl::Status CheckpointSaverHook::Begin(Graph& graph) {
  SLUICE_INVALID_IF(options_.saver && options_.scaffold,
                    "You cannot provide both saver and scaffold.");
  SLUICE_RETURN_IF_ERROR(timer_.Check());
  timer_.Reset();
  if (options_.open_events) {
    SLUICE_ASSIGN_OR_RETURN(events_, options_.open_events(options_.checkpoint_dir));
  }
  SLUICE_ASSIGN_OR_RETURN(global_step_, GlobalStepRead(graph, "CheckpointSaverHook"));
  if (options_.saver) SLUICE_RETURN_IF_ERROR(options_.saver->Build(graph));
  for (const auto& listener : options_.listeners) SLUICE_RETURN_IF_ERROR(listener->Begin(graph));
  return absl::OkStatus();
}

absl::Status CheckpointSaverHook::WriteGraph(const Graph& graph) {
  SLUICE_ASSIGN_OR_RETURN(const pb::MetaGraphDef meta, ExportMetaGraphDef(graph));
  if (options_.save_graph_def) {
    SLUICE_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(options_.checkpoint_dir, "graph.pbtxt"),
                                               PrintText(meta.graph_def())));
  }
  if (!events_) return absl::OkStatus();
  SLUICE_RETURN_IF_ERROR(events_->AddGraph(graph));
  return events_->AddMetaGraph(meta);
}

// Runs here and not in Begin, because the graph is complete only when Begin of all hooks has
// returned.
absl::Status CheckpointSaverHook::AfterCreateSession(Session& session, Coordinator&) {
  SLUICE_RETURN_IF_ERROR(MakeDirectories(options_.checkpoint_dir));
  SLUICE_ASSIGN_OR_RETURN(const int64_t step, GlobalStepValue(session, global_step_));
  SLUICE_RETURN_IF_ERROR(WriteGraph(session.graph()));
  SLUICE_RETURN_IF_ERROR(Save(session, step).status());
  timer_.Done(step);
  return absl::OkStatus();
}

absl::StatusOr<SessionRunArgs> CheckpointSaverHook::BeforeRun(SessionRunContext&) {
  return SessionRunArgs{.fetches = {global_step_}};
}

absl::Status CheckpointSaverHook::AfterRun(SessionRunContext& context,
                                           const SessionRunValues& values) {
  // The fetched step may be from before the update, and one run may train many steps. So the timer
  // is first queried with an upper bound, and then with the true step.
  constexpr int64_t kMaxStepsPerRun = 1'000'000;
  if (!timer_.IsDue(StepOf(values.results[0]) + kMaxStepsPerRun)) return absl::OkStatus();
  SLUICE_ASSIGN_OR_RETURN(const int64_t step, GlobalStepValue(context.session(), global_step_));
  if (!timer_.IsDue(step)) return absl::OkStatus();
  timer_.Done(step);
  SLUICE_ASSIGN_OR_RETURN(const bool stop, Save(context.session(), step));
  if (stop) context.RequestStop();
  return absl::OkStatus();
}

absl::Status CheckpointSaverHook::End(Session& session) {
  SLUICE_ASSIGN_OR_RETURN(const int64_t step, GlobalStepValue(session, global_step_));
  if (timer_.last_step() != step) SLUICE_RETURN_IF_ERROR(Save(session, step).status());
  for (const auto& listener : options_.listeners) {
    SLUICE_RETURN_IF_ERROR(listener->End(session, step));
  }
  return events_ ? events_->Flush() : absl::OkStatus();
}

absl::StatusOr<bool> CheckpointSaverHook::Save(Session& session, int64_t step) {
  for (const auto& listener : options_.listeners) {
    SLUICE_RETURN_IF_ERROR(listener->BeforeSave(session, step));
  }
  LogInfo("Saving checkpoints for ", step, " into ", save_path_, ".");
  SLUICE_ASSIGN_OR_RETURN(ModelSaver * saver, TheSaver());
  SLUICE_RETURN_IF_ERROR(saver->Save(session, save_path_, step, options_.save_graph_def).status());
  if (events_) {
    pb::SessionLog log;
    log.set_status(pb::SessionLog::CHECKPOINT);
    log.set_checkpoint_path(save_path_);
    SLUICE_RETURN_IF_ERROR(events_->AddSessionLog(log, step));
  }
  bool stop = false;
  for (const auto& listener : options_.listeners) {
    SLUICE_ASSIGN_OR_RETURN(const bool asked, listener->AfterSave(session, step));
    if (asked) LogInfo("A CheckpointSaverListener requested that training be stopped.");
    stop = stop || asked;
  }
  return stop;
}

}  // namespace sluice
