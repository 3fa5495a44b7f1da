// The part of `sluice inspect` for checkpoints.
#ifndef SLUICE_TOOLS_COMMANDS_INSPECT_CHECKPOINT_H_
#define SLUICE_TOOLS_COMMANDS_INSPECT_CHECKPOINT_H_

#include <string>

#include "absl/status/status.h"

namespace sluice {

// Whether `path` names a checkpoint: its path, one of its files (`….index`), or a folder with a
// state file.
bool IsCheckpoint(const std::string& path);
// Reads and prints all tensors; DATA_LOSS if one is damaged. With a name: prints the values of that
// tensor.
absl::Status InspectCheckpoint(const std::string& path, const std::string& tensor);

}  // namespace sluice

#endif  // SLUICE_TOOLS_COMMANDS_INSPECT_CHECKPOINT_H_
