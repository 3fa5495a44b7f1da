#include "tools/commands/security_flags.h"

#include <string>

#include "absl/flags/flag.h"
#include "graph/status.h"

#define SLUICE_SECURITY_FLAG(name, help) \
  ABSL_FLAG(std::string, name, "", "server, stalls, top, trace: " help)

SLUICE_SECURITY_FLAG(tls_cert, "certificate of this task or client, PEM");
SLUICE_SECURITY_FLAG(tls_key, "its key, PEM");
SLUICE_SECURITY_FLAG(
    tls_ca, "authority that checks certificates; of a server: clients then need one too, PEM");
SLUICE_SECURITY_FLAG(tls_server_name, "the name in all tasks' certificates");
ABSL_FLAG(bool, insecure, false,
          "server, top: listen without TLS on an address that other hosts reach");
SLUICE_SECURITY_FLAG(token_file, "file whose first line is the token that every call must carry");

namespace sluice {

absl::StatusOr<std::string> TokenFrom(const std::string& file) {
  if (file.empty()) return std::string();
  return ReadToken(file);
}

absl::StatusOr<Security> SecurityFromFlags() {
  Security security;
  security.cert_file = absl::GetFlag(FLAGS_tls_cert);
  security.key_file = absl::GetFlag(FLAGS_tls_key);
  security.ca_file = absl::GetFlag(FLAGS_tls_ca);
  security.server_name = absl::GetFlag(FLAGS_tls_server_name);
  SLUICE_ASSIGN_OR_RETURN(security.token, TokenFrom(absl::GetFlag(FLAGS_token_file)));
  return security;
}

}  // namespace sluice
