#include "tools/commands/help.h"

#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "fmt/format.h"
#include "graph/status.h"
#include "tools/commands/options.h"

namespace sluice {
namespace {

constexpr char kShells[] = "bash zsh";

// All options of the command, such as "--feeds".
std::vector<std::string> Words(const Command& command) {
  std::vector<std::string> words;
  for (const CommandOption& option : OptionsOf(command.name)) {
    words.push_back(StrCat("--", option.name));
  }
  return words;
}

std::string Names(absl::Span<const Command> commands) {
  return absl::StrJoin(commands, " ", [](std::string* text, const Command& command) {
    StrAppend(text, command.name);
  });
}

std::string BashCompletion(absl::Span<const Command> commands) {
  std::string cases;
  for (const Command& command : commands) {
    StrAppend(&cases, "      ", command.name, ") words=\"", absl::StrJoin(Words(command), " "),
              "\" ;;\n");
  }
  return fmt::format(R"(# bash completion of sluice: source <(sluice completion bash)
_sluice() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} command=${{COMP_WORDS[1]}} words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="{0} help completion"
  elif [ "$command" = completion ]; then
    words="{1}"
  elif [ "$command" = help ]; then
    words="{0}"
  elif [ "${{word#-}}" != "$word" ]; then
    case $command in
{2}    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _sluice sluice
)",
                     Names(commands), kShells, cases);
}

// A row of zsh's _describe: 'name:text'.
std::string Described(std::string_view name, std::string_view text) {
  const std::string escaped = absl::StrReplaceAll(ToAbsl(text), {{"'", "'\\''"}, {":", "\\:"}});
  return StrCat("'", name, ":", escaped, "'");
}

std::string ZshCompletion(absl::Span<const Command> commands) {
  std::string rows, cases;
  for (const Command& command : commands) {
    StrAppend(&rows, "    ", Described(command.name, command.summary), "\n");
    StrAppend(&cases, "      ", command.name, ") options=(\n");
    for (const CommandOption& option : OptionsOf(command.name)) {
      StrAppend(&cases, "        ", Described(StrCat("--", option.name), option.help), "\n");
    }
    StrAppend(&cases, "      ) ;;\n");
  }
  return fmt::format(R"(#compdef sluice
# zsh completion of sluice: source <(sluice completion zsh), or a file _sluice in $fpath.
_sluice() {{
  local -a commands options shells
  commands=(
{0}    'help:describes a command'
    'completion:prints a script for a shell'
  )
  shells=({1})
  if (( CURRENT == 2 )) || {{ (( CURRENT == 3 )) && [[ $words[2] == help ]] }}; then
    _describe command commands
  elif [[ $words[2] == completion ]]; then
    _describe shell shells
  elif [[ $words[CURRENT] == -* ]]; then
    case $words[2] in
{2}    esac
    _describe option options
  else
    _files
  fi
}}
if [[ $funcstack[1] == _sluice ]]; then _sluice "$@"; else compdef _sluice sluice; fi
)",
                     rows, kShells, cases);
}

}  // namespace

std::string Overview(absl::Span<const Command> commands) {
  std::string text =
      "sluice runs, trains, serves and watches TensorFlow graphs.\n\n"
      "Usage: sluice COMMAND [ARGUMENT …] [--OPTION=VALUE …]\n";
  std::string_view task;
  for (const Command& command : commands) {
    if (task != command.task) StrAppend(&text, "\n", command.task, ":\n");
    task = command.task;
    text += fmt::format("  {:<12}{}\n                $ {}\n", command.name, command.summary,
                        command.example);
  }
  return text +
         "\nHelp:\n"
         "  help        describes a command and its options\n"
         "                $ sluice help run\n"
         "  completion  prints a script that completes commands and options in bash or zsh\n"
         "                $ source <(sluice completion bash)\n\n"
         "Exit codes: 0 success; 1 the command failed; 2 the command line is wrong.\n";
}

std::string HelpOf(const Command& command) {
  std::string text = fmt::format(
      "Usage: sluice {}{}{} [--OPTION=VALUE …]\n\n{}\n\nExample:\n  $ {}\n", command.name,
      *command.arguments == 0 ? "" : " ", command.arguments, command.details, command.example);
  const std::vector<CommandOption> options = OptionsOf(command.name);
  if (!options.empty()) text += "\nOptions:\n";
  for (const CommandOption& option : options) {
    const bool shows_default = !option.is_bool && !option.default_value.empty();
    text += fmt::format("  {:<18} {}{}\n", StrCat("--", option.name, option.is_bool ? "" : "="),
                        option.help,
                        shows_default ? StrCat(" (default ", option.default_value, ")") : "");
  }
  return text;
}

absl::StatusOr<std::string> Completion(absl::Span<const Command> commands, std::string_view shell) {
  if (shell == "bash") return BashCompletion(commands);
  if (shell == "zsh") return ZshCompletion(commands);
  return UsageError(StrCat("'completion' expects one of: ", kShells, ", got '", shell, "'"));
}

}  // namespace sluice
