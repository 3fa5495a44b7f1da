// Who may talk to whom: TLS, mutual TLS, and a word that all tasks of a cluster know.
#ifndef SLUICE_DISTRIBUTED_WIRE_SECURITY_H_
#define SLUICE_DISTRIBUTED_WIRE_SECURITY_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/security/server_credentials.h"

namespace sluice {

// Of a process, as server and as client. Empty: neither TLS nor token.
struct Security {
  // Files in PEM form. The authority that both sides' certificates are checked by; on a server it
  // makes certificates of clients compulsory (mutual TLS).
  std::string ca_file;
  // This process's own certificate, and its key; a server with TLS needs them.
  std::string cert_file;
  std::string key_file;
  // The name that the certificates of servers bear; empty: the host of their address.
  std::string server_name;
  // Calls without it end with UNAUTHENTICATED; empty: none is asked for. Where there is no TLS,
  // whoever hears the wire knows it.
  std::string token;

  bool uses_tls() const { return !ca_file.empty() || !cert_file.empty(); }
};

// INVALID_ARGUMENT for half a pair of certificate and key; NOT_FOUND for files that are not there.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> ServerCredentials(
    const Security& security);
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> ChannelCredentials(
    const Security& security);

// Header of a call that has the token.
inline constexpr char kTokenHeader[] = "sluice-token";
// Takes as long for every wrong word of a length.
bool IsToken(std::string_view given, std::string_view expected);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_WIRE_SECURITY_H_
