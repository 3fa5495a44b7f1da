// Reads and writes a folder's file `checkpoint`, which lists the folder's checkpoints and the
// latest one.
//
// The file holds the text of a CheckpointState message, as tf.train.Saver writes it, and is
// replaced atomically. Paths in it are relative to the folder if the folder's own path is relative.
//
// Thread safety: all functions may be called from any thread. A file has one writer at a time.
#ifndef SLUICE_TRAINING_CHECKPOINT_CHECKPOINT_STATE_H_
#define SLUICE_TRAINING_CHECKPOINT_CHECKPOINT_STATE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sluice {

inline constexpr std::string_view kCheckpointStateFile = "checkpoint";

struct CheckpointState {
  std::string latest;
  std::vector<std::string> all;  // oldest first; the latest is the last of them
  std::vector<double> timestamps;
  double last_preserved_timestamp = 0;
};

struct CheckpointStateOptions {
  std::string latest_filename = std::string(kCheckpointStateFile);
  // Paths below the folder are written relative to it, so that the folder can be moved.
  bool save_relative_paths = false;
};

// Reads the state file. Resolves relative paths in it against `folder`. NOT_FOUND if the file does
// not exist, DATA_LOSS if it cannot be parsed.
absl::StatusOr<CheckpointState> ReadCheckpointState(
    const std::string& folder, std::string_view latest_filename = kCheckpointStateFile);
// INVALID_ARGUMENT if the latest checkpoint has the same name as the state file.
absl::Status WriteCheckpointState(const std::string& folder, const CheckpointState& state,
                                  const CheckpointStateOptions& options = {});

// Returns the latest listed checkpoint whose files exist and whose index is not damaged. NOT_FOUND
// if there is none. Also returns the errors of ReadCheckpointState.
absl::StatusOr<std::string> LatestCheckpoint(
    const std::string& folder, std::string_view latest_filename = kCheckpointStateFile);

// Whether there are files with that prefix, in either format.
bool CheckpointExists(const std::string& prefix);
// The time of writing, in seconds since 1970. NOT_FOUND if the checkpoint does not exist.
absl::StatusOr<double> CheckpointTime(const std::string& prefix);
// Removes the files and the meta graph of a checkpoint. Does nothing if there are none.
absl::Status RemoveCheckpoint(const std::string& prefix,
                              std::string_view meta_graph_suffix = "meta");
// Returns "<prefix>.meta". For a sharded V1 checkpoint the shard suffix is removed first.
std::string MetaGraphName(std::string_view prefix, std::string_view meta_graph_suffix = "meta");

}  // namespace sluice

#endif  // SLUICE_TRAINING_CHECKPOINT_CHECKPOINT_STATE_H_
