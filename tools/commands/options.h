// The options of the command line. They are Abseil flags whose help begins with the names of the
// commands that use them: "run, trace: .npz file with the feeds".
//
// Thread safety: only the main thread may call these functions, before other threads start.
#ifndef SLUICE_TOOLS_COMMANDS_OPTIONS_H_
#define SLUICE_TOOLS_COMMANDS_OPTIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/commands/command.h"

namespace sluice {

struct CommandOption {
  std::string name;  // without dashes
  std::string help;
  std::string default_value;
  bool is_bool = false;
};

// The options of a command, by name.
std::vector<CommandOption> OptionsOf(std::string_view command);

// Sets the options among the words: --name=value, --name value, and --name or --noname of a bool.
// Returns the other words, in order. Words after "--" are never options. A usage error for unknown
// options, values that do not parse, and missing values.
absl::StatusOr<Arguments> ParseOptions(const Arguments& words);

}  // namespace sluice

#endif  // SLUICE_TOOLS_COMMANDS_OPTIONS_H_
