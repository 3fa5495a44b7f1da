// Reads the flags --tls_cert, --tls_key, --tls_ca, --tls_server_name and --token_file, for all
// commands that run or contact servers, and declares --insecure for the commands that listen on an
// address.
#ifndef SLUICE_TOOLS_COMMANDS_SECURITY_FLAGS_H_
#define SLUICE_TOOLS_COMMANDS_SECURITY_FLAGS_H_

#include <string>

#include "absl/flags/declare.h"
#include "absl/status/statusor.h"
#include "distributed/security/security.h"

ABSL_DECLARE_FLAG(bool, insecure);

namespace sluice {

// Errors: see ReadToken.
absl::StatusOr<Security> SecurityFromFlags();
// Returns the token in a file, or "" if `file` is empty.
absl::StatusOr<std::string> TokenFrom(const std::string& file);

}  // namespace sluice

#endif  // SLUICE_TOOLS_COMMANDS_SECURITY_FLAGS_H_
