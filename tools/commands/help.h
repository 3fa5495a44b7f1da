// The output of `sluice help` and `sluice completion`, made from a table of commands and from the
// options (options.h).
//
// Thread safety: pure functions.
#ifndef SLUICE_TOOLS_COMMANDS_HELP_H_
#define SLUICE_TOOLS_COMMANDS_HELP_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tools/commands/command.h"

namespace sluice {

struct Command {
  const char* task;  // what users want to do; commands are listed under it
  const char* name;
  const char* arguments;
  const char* summary;
  const char* example;
  const char* details;  // lines of text
  absl::Status (*run)(const Arguments&);
};

// All commands by task, with an example of each, and the exit codes.
std::string Overview(absl::Span<const Command> commands);

// A command's arguments, details, example and options.
std::string HelpOf(const Command& command);

// A script that completes commands, options and files. `shell` is "bash" or "zsh", otherwise a
// usage error.
absl::StatusOr<std::string> Completion(absl::Span<const Command> commands, std::string_view shell);

}  // namespace sluice

#endif  // SLUICE_TOOLS_COMMANDS_HELP_H_
