#include "distributed/security/security.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "graph/status.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/security/server_credentials.h"

namespace sluice {
namespace {

absl::Status CheckPair(const Security& security) {
  if (security.cert_file.empty() == security.key_file.empty()) return absl::OkStatus();
  return InvalidArgument("TLS: a certificate and its key come together, got ",
                         security.cert_file.empty() ? "only a key" : "only a certificate");
}

}  // namespace

absl::StatusOr<std::string> ReadPem(const std::string& file) {
  if (file.empty()) return std::string();
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (in.good() && !text.str().empty()) return text.str();
  return absl::NotFoundError(StrCat("TLS: cannot read '", file, "'"));
}

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> ServerCredentials(
    const Security& security) {
  if (!security.uses_tls()) return grpc::InsecureServerCredentials();
  SLUICE_RETURN_IF_ERROR(CheckPair(security));
  SLUICE_INVALID_IF(security.cert_file.empty(), "TLS: a server needs a certificate and its key");
  grpc::SslServerCredentialsOptions options(
      security.ca_file.empty() ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                               : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  SLUICE_ASSIGN_OR_RETURN(options.pem_root_certs, ReadPem(security.ca_file));
  grpc::SslServerCredentialsOptions::PemKeyCertPair pair;
  SLUICE_ASSIGN_OR_RETURN(pair.private_key, ReadPem(security.key_file));
  SLUICE_ASSIGN_OR_RETURN(pair.cert_chain, ReadPem(security.cert_file));
  options.pem_key_cert_pairs.push_back(std::move(pair));
  return grpc::SslServerCredentials(options);
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> ChannelCredentials(
    const Security& security) {
  if (!security.uses_tls()) return grpc::InsecureChannelCredentials();
  SLUICE_RETURN_IF_ERROR(CheckPair(security));
  grpc::SslCredentialsOptions options;
  SLUICE_ASSIGN_OR_RETURN(options.pem_root_certs, ReadPem(security.ca_file));
  SLUICE_ASSIGN_OR_RETURN(options.pem_private_key, ReadPem(security.key_file));
  SLUICE_ASSIGN_OR_RETURN(options.pem_cert_chain, ReadPem(security.cert_file));
  return grpc::SslCredentials(options);
}

absl::StatusOr<std::string> ReadToken(const std::string& file) {
  struct stat info;
  std::ifstream in(file);
  if (!in.is_open() || stat(file.c_str(), &info) != 0) {
    return absl::NotFoundError(StrCat("token file '", file, "' cannot be read"));
  }
  if ((info.st_mode & S_IRWXO) != 0) {
    return absl::PermissionDeniedError(
        StrCat("token file '", file, "' is open to every user of this machine: chmod o-rwx it"));
  }
  std::string token;
  std::getline(in, token);
  if (token.ends_with('\r')) token.pop_back();
  const bool is_printable =
      std::all_of(token.begin(), token.end(), [](char c) { return c >= ' ' && c <= '~'; });
  SLUICE_INVALID_IF(
      token.empty() || token.front() == ' ' || token.back() == ' ' || !is_printable, "token file '",
      file, "': expected a first line of printable ASCII characters without blanks at its ends");
  return token;
}

bool IsToken(std::string_view given, std::string_view expected) {
  if (given.size() != expected.size()) return false;
  unsigned char different = 0;
  for (size_t i = 0; i < given.size(); ++i) {
    different |= static_cast<unsigned char>(given[i] ^ expected[i]);
  }
  return different == 0;
}

}  // namespace sluice
