// --tls_cert, --tls_key, --tls_ca, --tls_server_name and --token_file, for all commands that are or
// contact servers.
#ifndef SLUICE_TOOLS_COMMANDS_SECURITY_FLAGS_H_
#define SLUICE_TOOLS_COMMANDS_SECURITY_FLAGS_H_

#include "absl/status/statusor.h"
#include "distributed/security/security.h"

namespace sluice {

// NOT_FOUND if the token's file contains no word.
absl::StatusOr<Security> SecurityFromFlags();

}  // namespace sluice

#endif  // SLUICE_TOOLS_COMMANDS_SECURITY_FLAGS_H_
