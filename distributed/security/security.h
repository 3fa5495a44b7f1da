// Authenticates peers by TLS, by mutual TLS, and by a token that all tasks of a cluster share.
#ifndef SLUICE_DISTRIBUTED_SECURITY_SECURITY_H_
#define SLUICE_DISTRIBUTED_SECURITY_SECURITY_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace grpc {
class ChannelCredentials;
}  // namespace grpc

namespace sluice {

class TaskCredentials;

// The settings of a process, as server and as client. The default is neither TLS nor token.
struct Security {
  // PEM file of the authority that signs the peers' certificates. On a server it makes client
  // certificates compulsory (mutual TLS).
  std::string ca_file;
  // PEM files of this process's certificate and key. A server with TLS needs them.
  std::string cert_file;
  std::string key_file;
  // The name in the servers' certificates. If empty, it is the host of their address.
  std::string server_name;
  // Calls without this token end with UNAUTHENTICATED. Empty: no token is needed. Without TLS, the
  // token is visible in the network traffic.
  std::string token;

  bool uses_tls() const { return !ca_file.empty() || !cert_file.empty(); }
};

// Make the credentials of a server and of a client. The credentials of a server must outlive the
// server. They read the files again after ReloadCertificates. The credentials of a client read the
// files only once. INVALID_ARGUMENT for a certificate without its key or a key without its
// certificate. NOT_FOUND for files that cannot be read.
absl::StatusOr<std::shared_ptr<TaskCredentials>> ServerCredentials(const Security& security);
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> ChannelCredentials(
    const Security& security);

// Returns the text of a PEM file, or "" if `file` is empty. NOT_FOUND if it cannot be read.
absl::StatusOr<std::string> ReadPem(const std::string& file);

// Returns the first line of a file. NOT_FOUND if the file cannot be read. PERMISSION_DENIED if
// every user of the machine may use the file, because a token is a password. INVALID_ARGUMENT if
// the line is empty, begins or ends with a blank, or has characters that a header of a call cannot
// carry.
absl::StatusOr<std::string> ReadToken(const std::string& file);

// The metadata of a call that carries the token.
inline constexpr char kTokenHeader[] = "sluice-token";
// Whether `given` is the expected token. The time of the comparison does not depend on the
// contents, so that the time until a call is rejected reveals nothing about the token.
bool IsToken(std::string_view given, std::string_view expected);

// ReplaceToken lets an operator replace a token while the process runs. Objects keep the token that
// they were created with, and call CurrentToken to get its replacement. Both functions may be
// called from any thread.
//
// After ReplaceToken, CurrentToken(initial) returns `current`.
void ReplaceToken(const std::string& initial, std::string current);
// Returns the replacement of a token, or the token itself if it was not replaced.
std::string CurrentToken(const std::string& initial);

// Makes servers read their certificate, key and authority again for the next connection. If a file
// cannot be read, a server keeps the former ones.
void ReloadCertificates();

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_SECURITY_SECURITY_H_
