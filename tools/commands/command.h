// Declares the subcommands of the program `sluice`. Each receives the words after its name. Options
// are Abseil flags in the command's own file. The help text of a flag begins with the names of the
// commands that use it: "run, trace: …".
//
// Output goes to stdout. Errors are returned, and main() prints them.
#ifndef SLUICE_TOOLS_COMMANDS_COMMAND_H_
#define SLUICE_TOOLS_COMMANDS_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace sluice {

using Arguments = std::vector<std::string>;

// An error in the command line itself: the program then ends with code 2 instead of 1.
absl::Status UsageError(const std::string& message);
bool IsUsageError(const absl::Status& status);

// Trains on Fashion-MNIST, with progress, curves and pictures.
absl::Status DemoCommand(const Arguments& arguments);

// Prints one row per op of this program.
absl::Status OpsCommand(const Arguments& arguments);

// Describes a graph file: sizes, devices, ops, inputs, outputs, the first problem. For a
// checkpoint: its tensors, and whether all of them can be read.
absl::Status InspectCommand(const Arguments& arguments);

// Runs steps of a graph file with feeds from a .npz file, and writes the fetches to another.
absl::Status RunCommand(const Arguments& arguments);

// Runs steps like RunCommand, traces the last one (or those of --steps), and shows their times.
absl::Status TraceCommand(const Arguments& arguments);

// Shows the ops and calls that wait in servers, and for what.
absl::Status StallsCommand(const Arguments& arguments);

// Shows the state of a cluster's tasks at intervals, in the terminal or in a browser.
absl::Status TopCommand(const Arguments& arguments);

// Runs a task of a cluster until SIGTERM or SIGINT. TensorFlow's clients can run their graphs on
// it.
absl::Status ServerCommand(const Arguments& arguments);

}  // namespace sluice

#endif  // SLUICE_TOOLS_COMMANDS_COMMAND_H_
