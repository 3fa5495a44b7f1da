#include "training/checkpoint/checkpoint_state.h"

#include <algorithm>
#include <filesystem>

#include "executor/files/files.h"
#include "graph/format/proto/checkpoint_state.pb.h"
#include "graph/format/text.h"
#include "graph/status.h"
#include "ops/checkpoint/bundle.h"

namespace sluice {
namespace {

bool IsAbsolute(std::string_view path) { return path.starts_with('/'); }

// Returns a relative path like Python's os.path.relpath, which does not access the file system.
std::string RelativeTo(const std::string& path, const std::string& folder) {
  namespace fs = std::filesystem;
  return fs::absolute(path)
      .lexically_normal()
      .lexically_relative(fs::absolute(folder.empty() ? "." : folder).lexically_normal())
      .string();
}

std::string WrittenPath(const std::string& path, const std::string& folder,
                        bool save_relative_paths) {
  if (save_relative_paths && IsAbsolute(path)) return RelativeTo(path, folder);
  if (!IsAbsolute(folder) && !IsAbsolute(path)) return RelativeTo(path, folder);
  return path;
}

bool IsReadable(const std::string& prefix) {
  if (FileExists(BundleIndexName(prefix))) return BundleReader::Open(prefix).ok();
  return CheckpointExists(prefix);
}

}  // namespace

absl::StatusOr<CheckpointState> ReadCheckpointState(const std::string& folder,
                                                    std::string_view latest_filename) {
  const std::string path = JoinPath(folder, latest_filename);
  SLUICE_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path));
  pb::CheckpointState proto;
  if (absl::Status parsed = ParseText(text, &proto); !parsed.ok()) {
    return absl::DataLossError(StrCat(path, ": ", ToStd(parsed.message())));
  }
  if (proto.model_checkpoint_path().empty()) {
    return absl::DataLossError(StrCat(path, ": no model_checkpoint_path"));
  }
  CheckpointState state;
  state.latest = JoinPath(folder, proto.model_checkpoint_path());
  for (const std::string& p : proto.all_model_checkpoint_paths()) {
    state.all.push_back(JoinPath(folder, p));
  }
  state.timestamps.assign(proto.all_model_checkpoint_timestamps().begin(),
                          proto.all_model_checkpoint_timestamps().end());
  state.last_preserved_timestamp = proto.last_preserved_timestamp();
  return state;
}

absl::Status WriteCheckpointState(const std::string& folder, const CheckpointState& state,
                                  const CheckpointStateOptions& options) {
  const std::string path = JoinPath(folder, options.latest_filename);
  SLUICE_INVALID_IF(path == state.latest, "Save path '", state.latest,
                    "' conflicts with path used for checkpoint state.  Please use a "
                    "different save path.");
  pb::CheckpointState proto;
  proto.set_model_checkpoint_path(WrittenPath(state.latest, folder, options.save_relative_paths));
  std::vector<std::string> all = state.all;
  if (all.empty() || all.back() != state.latest) all.push_back(state.latest);
  for (const std::string& p : all) {
    proto.add_all_model_checkpoint_paths(WrittenPath(p, folder, options.save_relative_paths));
  }
  for (double t : state.timestamps) proto.add_all_model_checkpoint_timestamps(t);
  if (state.last_preserved_timestamp != 0) {
    proto.set_last_preserved_timestamp(state.last_preserved_timestamp);
  }
  return WriteFileAtomically(path, PrintText(proto));
}

absl::StatusOr<std::string> LatestCheckpoint(const std::string& folder,
                                             std::string_view latest_filename) {
  absl::StatusOr<CheckpointState> state = ReadCheckpointState(folder, latest_filename);
  if (!state.ok()) return state.status();
  std::vector<std::string> candidates = state->all;
  if (candidates.empty() || candidates.back() != state->latest) candidates.push_back(state->latest);
  for (auto it = candidates.rbegin(); it != candidates.rend(); ++it) {
    if (IsReadable(*it)) return *it;
  }
  return absl::NotFoundError(StrCat("Couldn't match files for checkpoint ", state->latest));
}

bool CheckpointExists(const std::string& prefix) {
  if (FileExists(BundleIndexName(prefix))) return true;
  const absl::StatusOr<std::vector<std::string>> files = MatchFiles(prefix);
  return files.ok() && std::any_of(files->begin(), files->end(),
                                   [](const std::string& file) { return !IsDirectory(file); });
}

absl::StatusOr<double> CheckpointTime(const std::string& prefix) {
  if (FileExists(BundleIndexName(prefix))) return ModificationTime(BundleIndexName(prefix));
  SLUICE_ASSIGN_OR_RETURN(const std::vector<std::string> files, MatchFiles(prefix));
  if (files.empty()) return absl::NotFoundError(StrCat("no checkpoint '", prefix, "'"));
  return ModificationTime(files[0]);
}

std::string MetaGraphName(std::string_view prefix, std::string_view meta_graph_suffix) {
  // Removes "-?????-of-00004" of a pattern of shards.
  const size_t of = prefix.rfind("-of-");
  if (of != prefix.npos && of > 0) {
    const auto is_number = [](std::string_view s) {
      return !s.empty() && std::all_of(s.begin(), s.end(),
                                       [](char c) { return (c >= '0' && c <= '9') || c == '?'; });
    };
    const size_t dash = prefix.rfind('-', of - 1);
    if (dash != prefix.npos && is_number(prefix.substr(dash + 1, of - dash - 1)) &&
        is_number(prefix.substr(of + 4))) {
      prefix = prefix.substr(0, dash);
    }
  }
  return StrCat(prefix, ".", meta_graph_suffix);
}

absl::Status RemoveCheckpoint(const std::string& prefix, std::string_view meta_graph_suffix) {
  const std::string meta = MetaGraphName(prefix, meta_graph_suffix);
  if (FileExists(BundleIndexName(prefix))) {
    SLUICE_RETURN_IF_ERROR(RemoveBundle(prefix));
  } else {
    SLUICE_ASSIGN_OR_RETURN(const std::vector<std::string> files, MatchFiles(prefix));
    for (const std::string& file : files) SLUICE_RETURN_IF_ERROR(RemoveFile(file));
  }
  return FileExists(meta) ? RemoveFile(meta) : absl::OkStatus();
}

}  // namespace sluice
