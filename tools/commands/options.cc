#include "tools/commands/options.h"

#include <algorithm>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/reflection.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Returns "run, trace" for "run, trace: .npz file with the feeds", and "" if there is no colon.
absl::string_view CommandsOf(absl::string_view help) {
  const size_t colon = help.find(": ");
  return colon == help.npos ? "" : help.substr(0, colon);
}

// Sets the flag `name`, whose value is `value` if there is one, and otherwise words[*next], which
// is then taken.
absl::Status SetFlag(const std::string& name, const std::string* value, const Arguments& words,
                     size_t* next) {
  absl::CommandLineFlag* flag = absl::FindCommandLineFlag(name);
  std::string text = value == nullptr ? "" : *value;
  if (flag == nullptr && value == nullptr && absl::StartsWith(name, "no")) {
    flag = absl::FindCommandLineFlag(name.substr(2));
    text = "false";
    if (flag != nullptr && !flag->IsOfType<bool>()) flag = nullptr;
  } else if (flag != nullptr && value == nullptr && flag->IsOfType<bool>()) {
    text = "true";
  } else if (flag != nullptr && value == nullptr) {
    if (*next == words.size()) return UsageError(StrCat("--", name, " needs a value"));
    text = words[(*next)++];
  }
  if (flag == nullptr) return UsageError(StrCat("unknown option '--", name, "'"));
  std::string error;
  if (flag->ParseFrom(text, &error)) return absl::OkStatus();
  return UsageError(
      StrCat("--", name, ": '", text, "' is not valid", error.empty() ? "" : ": ", error));
}

}  // namespace

std::vector<CommandOption> OptionsOf(std::string_view command) {
  std::vector<CommandOption> options;
  for (const auto& [name, flag] : absl::GetAllFlags()) {
    const std::string help = flag->Help();
    const std::vector<absl::string_view> commands = absl::StrSplit(CommandsOf(help), ", ");
    if (std::find(commands.begin(), commands.end(), ToAbsl(command)) == commands.end()) continue;
    options.push_back({std::string(name), help.substr(CommandsOf(help).size() + 2),
                       flag->DefaultValue(), flag->IsOfType<bool>()});
  }
  std::sort(options.begin(), options.end(),
            [](const CommandOption& a, const CommandOption& b) { return a.name < b.name; });
  return options;
}

absl::StatusOr<Arguments> ParseOptions(const Arguments& words) {
  Arguments others;
  size_t next = 0;
  while (next < words.size()) {
    const std::string& word = words[next++];
    if (word == "--") {
      others.insert(others.end(), words.begin() + static_cast<int64_t>(next), words.end());
      break;
    }
    absl::string_view name = word;
    if (word.size() < 2 || !absl::ConsumePrefix(&name, "-")) {
      others.push_back(word);
      continue;
    }
    absl::ConsumePrefix(&name, "-");
    const size_t equals = name.find('=');
    const std::string value(equals == name.npos ? "" : name.substr(equals + 1));
    SLUICE_RETURN_IF_ERROR(SetFlag(std::string(name.substr(0, equals)),
                                   equals == name.npos ? nullptr : &value, words, &next));
  }
  return others;
}

}  // namespace sluice
