#include <cstdio>
#include <string>

#include "distributed/client/monitor.h"
#include "graph/status.h"
#include "tools/commands/command.h"
#include "tools/commands/security_flags.h"

namespace sluice {

absl::Status StallsCommand(const Arguments& arguments) {
  if (arguments.empty()) return UsageError("'stalls' needs targets: grpc://host:port …");
  SLUICE_ASSIGN_OR_RETURN(const Security security, SecurityFromFlags());
  absl::Status first;
  for (const std::string& target : arguments) {
    const absl::StatusOr<std::string> stalls = StallsAt(target, security);
    const std::string text = !stalls.ok()      ? StrCat(stalls.status().message(), "\n")
                             : stalls->empty() ? "nothing waits\n"
                                               : *stalls;
    std::printf("%s\n%s", target.c_str(), text.c_str());
    first.Update(stalls.status());
  }
  return first;
}

}  // namespace sluice
