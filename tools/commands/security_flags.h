// --tls_cert, --tls_key, --tls_ca, --tls_server_name and --token_file, of all commands that speak
// to servers or are one.
#ifndef SLUICE_TOOLS_COMMANDS_SECURITY_FLAGS_H_
#define SLUICE_TOOLS_COMMANDS_SECURITY_FLAGS_H_

#include "absl/status/statusor.h"
#include "distributed/security/security.h"

namespace sluice {

// NOT_FOUND where the file of the token has no word.
absl::StatusOr<Security> SecurityFromFlags();

}  // namespace sluice

#endif  // SLUICE_TOOLS_COMMANDS_SECURITY_FLAGS_H_
