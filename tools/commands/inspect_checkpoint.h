// Prints the contents of checkpoints for the command `sluice inspect`.
#ifndef SLUICE_TOOLS_COMMANDS_INSPECT_CHECKPOINT_H_
#define SLUICE_TOOLS_COMMANDS_INSPECT_CHECKPOINT_H_

#include <string>

#include "absl/status/status.h"

namespace sluice {

// Whether `path` names a checkpoint: its path, one of its files (`….index`), or a folder with a
// state file.
bool IsCheckpoint(const std::string& path);
// If `tensor` is empty, prints names, types and shapes of all tensors, and reads all values to
// check them; DATA_LOSS if one is damaged. Otherwise prints the values of that tensor.
absl::Status InspectCheckpoint(const std::string& path, const std::string& tensor);

}  // namespace sluice

#endif  // SLUICE_TOOLS_COMMANDS_INSPECT_CHECKPOINT_H_
