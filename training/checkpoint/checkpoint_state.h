// Reads and writes the state file of a folder: the file `checkpoint`, which lists the folder's
// checkpoints and the latest one.
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

// The contents of the state file. Checkpoints are given as paths without a suffix. Times are
// seconds since 1970.
struct CheckpointState {
  std::string latest;
  std::vector<std::string> all;         // oldest first; the latest is the last of them
  std::vector<double> timestamps;       // when those in `all` were written; may be empty
  double last_preserved_timestamp = 0;  // when the last permanent one was written; 0: not set
};

struct CheckpointStateOptions {
  // Name of the state file in its folder.
  std::string latest_filename = std::string(kCheckpointStateFile);
  // Whether paths below the folder are written relative to it, so that the folder can be moved.
  bool save_relative_paths = false;
};

// Reads the state file. Resolves relative paths in it against `folder`. NOT_FOUND if the file does
// not exist, DATA_LOSS if it cannot be parsed.
absl::StatusOr<CheckpointState> ReadCheckpointState(
    const std::string& folder, std::string_view latest_filename = kCheckpointStateFile);
// Writes the state file. INVALID_ARGUMENT if the latest checkpoint has the same name as this file.
absl::Status WriteCheckpointState(const std::string& folder, const CheckpointState& state,
                                  const CheckpointStateOptions& options = {});

// Returns the latest listed checkpoint whose files exist and whose index is not damaged. NOT_FOUND
// if there is none. Also returns the errors of ReadCheckpointState.
absl::StatusOr<std::string> LatestCheckpoint(
    const std::string& folder, std::string_view latest_filename = kCheckpointStateFile);

// Whether there is a checkpoint with the path `prefix` ("/models/m-100", without a suffix), in
// either of TensorFlow's two formats.
bool CheckpointExists(const std::string& prefix);
// Returns when the checkpoint was written, in seconds since 1970. NOT_FOUND if it does not exist.
absl::StatusOr<double> CheckpointTime(const std::string& prefix);
// Removes the files of a checkpoint, and its meta graph "<prefix>.<meta_graph_suffix>". Does
// nothing if there are none.
absl::Status RemoveCheckpoint(const std::string& prefix,
                              std::string_view meta_graph_suffix = "meta");
// Returns the file name of a checkpoint's meta graph, "<prefix>.<meta_graph_suffix>". In
// TensorFlow's first format, `prefix` may end with a pattern of shards ("-?????-of-00004"), which
// is removed first.
std::string MetaGraphName(std::string_view prefix, std::string_view meta_graph_suffix = "meta");

}  // namespace sluice

#endif  // SLUICE_TRAINING_CHECKPOINT_CHECKPOINT_STATE_H_
