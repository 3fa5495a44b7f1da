// Reads the flags that restrict which files the clients of a server may use.
#ifndef SLUICE_TOOLS_COMMANDS_FILE_FLAGS_H_
#define SLUICE_TOOLS_COMMANDS_FILE_FLAGS_H_

#include "absl/status/status.h"

namespace sluice {

// Passes the flags to SetFilePolicy, for all servers of this process. Returns the errors of
// SetFilePolicy.
absl::Status SetFilePolicyFromFlags();

}  // namespace sluice

#endif  // SLUICE_TOOLS_COMMANDS_FILE_FLAGS_H_
