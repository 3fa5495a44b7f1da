// The file `checkpoint` of a folder: which checkpoints there are, and which is the latest.
//
// Text of a CheckpointState message, as tf.train.Saver writes it, replaced atomically. Paths in it
// are relative to the folder where the folder was given relative.
//
// Thread safety: functions from any thread; the file has one writer at a time.
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

// NOT_FOUND where there is no such file, DATA_LOSS where it cannot be read. Relative paths in it
// come back below `folder`.
absl::StatusOr<CheckpointState> ReadCheckpointState(
    const std::string& folder, std::string_view latest_filename = kCheckpointStateFile);
// INVALID_ARGUMENT where the latest checkpoint has the state file's own name.
absl::Status WriteCheckpointState(const std::string& folder, const CheckpointState& state,
                                  const CheckpointStateOptions& options = {});

// The latest checkpoint that the file lists and that is there; one that is gone, or whose index is
// damaged, is passed over for the one before. NOT_FOUND where there is none.
absl::StatusOr<std::string> LatestCheckpoint(
    const std::string& folder, std::string_view latest_filename = kCheckpointStateFile);

// There are files of that prefix, of either format.
bool CheckpointExists(const std::string& prefix);
// When it was written, in seconds since 1970. NOT_FOUND.
absl::StatusOr<double> CheckpointTime(const std::string& prefix);
// Takes away its files and its meta graph; none is no error.
absl::Status RemoveCheckpoint(const std::string& prefix,
                              std::string_view meta_graph_suffix = "meta");
// "<prefix>.meta"; the shards of a prefix of the first format are left out.
std::string MetaGraphName(std::string_view prefix, std::string_view meta_graph_suffix = "meta");

}  // namespace sluice

#endif  // SLUICE_TRAINING_CHECKPOINT_CHECKPOINT_STATE_H_
