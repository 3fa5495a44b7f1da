// The subcommands of `sluice`. Each takes the words after its name; options are Abseil flags in its
// own file.
//
// Output goes to stdout; an error comes back as a status, and main() prints it.
#ifndef SLUICE_TOOLS_COMMANDS_COMMAND_H_
#define SLUICE_TOOLS_COMMANDS_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace sluice {

using Arguments = std::vector<std::string>;

// One row (with --json: one JSON object) an op that this program knows.
absl::Status OpsCommand(const Arguments& arguments);

// What is in a graph file: sizes, devices, ops, inputs, outputs, the first problem. Of a
// checkpoint: its tensors, and whether all of them can be read.
absl::Status InspectCommand(const Arguments& arguments);

// Runs steps of a graph file on feeds from a .npz file, and writes the fetches to another.
absl::Status RunCommand(const Arguments& arguments);

// The same steps, of which the last one is traced: where its time went.
absl::Status TraceCommand(const Arguments& arguments);

// What the steps of servers wait for.
absl::Status StallsCommand(const Arguments& arguments);

// How the tasks of a cluster are doing, again and again.
absl::Status TopCommand(const Arguments& arguments);

// A task of a cluster, until SIGTERM or SIGINT: clients of TensorFlow can run their graphs on it.
absl::Status ServerCommand(const Arguments& arguments);

}  // namespace sluice

#endif  // SLUICE_TOOLS_COMMANDS_COMMAND_H_
