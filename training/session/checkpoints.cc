#include "training/session/checkpoints.h"

#include <filesystem>

#include "graph/status.h"
#include "training/checkpoint/checkpoint_state.h"

namespace sluice {

std::shared_ptr<ModelSaver> Checkpoints::OfAllVariables() {
  return std::make_shared<Checkpoints>(
      std::make_shared<Saver>(SaverOptions{.sharded = true, .allow_empty = true}));
}

absl::Status Checkpoints::Build(Graph& graph) { return saver_->Build(graph); }

absl::StatusOr<std::string> Checkpoints::Save(Session& session, const std::string& prefix,
                                              int64_t global_step, bool write_meta_graph) {
  // The first save of a run makes the folder, as TensorFlow's hook does by its event file.
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(prefix).parent_path(), error);
  return saver_->Save(session, prefix,
                      {.global_step = global_step, .write_meta_graph = write_meta_graph});
}

absl::Status Checkpoints::Restore(Session& session, const std::string& path) {
  return saver_->Restore(session, path);
}

absl::StatusOr<LatestCheckpoints> Checkpoints::FindCheckpoints(const std::string& folder) {
  LatestCheckpoints found;
  const auto latest = LatestCheckpoint(folder);
  if (latest.status().code() == absl::StatusCode::kNotFound) return found;
  SLUICE_RETURN_IF_ERROR(latest.status());
  found.latest = *latest;
  SLUICE_ASSIGN_OR_RETURN(const CheckpointState state, ReadCheckpointState(folder));
  found.all = state.all;
  return found;
}

void Checkpoints::RecoverLastCheckpoints(const std::vector<std::string>& paths) {
  saver_->RecoverLastCheckpoints(paths);
}

}  // namespace sluice
