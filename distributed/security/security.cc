#include "distributed/security/security.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <sstream>

#include "distributed/security/task_credentials.h"
#include "graph/mutex.h"
#include "graph/status.h"
#include "grpc/grpc.h"
#include "grpc/grpc_security.h"
#include "grpcpp/security/credentials.h"

namespace sluice {
namespace {

// The number of calls of ReloadCertificates.
std::atomic<int> reloads{0};

class Tokens {
 public:
  static Tokens& Global() {
    static Tokens* tokens = new Tokens;
    return *tokens;
  }
  void Replace(const std::string& initial, std::string current) {
    ScopedLock lock(&mutex_);
    current_[initial] = std::move(current);
  }
  std::string Current(const std::string& initial) {
    ScopedLock lock(&mutex_);
    auto found = current_.find(initial);
    return found == current_.end() ? initial : found->second;
  }

 private:
  Mutex mutex_;
  std::map<std::string, std::string> current_ ABSL_GUARDED_BY(mutex_);
};

absl::Status CheckPair(const Security& security) {
  if (security.cert_file.empty() == security.key_file.empty()) return absl::OkStatus();
  return InvalidArgument("TLS: a certificate and its key come together, got ",
                         security.cert_file.empty() ? "only a key" : "only a certificate");
}

// The certificates of a server. gRPC asks for them at each handshake.
class ReloadedCredentials final : public TaskCredentials {
 public:
  explicit ReloadedCredentials(Security security) : security_(std::move(security)) {}
  // The caller owns the result.
  absl::StatusOr<grpc_ssl_server_certificate_config*> Read() const {
    SLUICE_ASSIGN_OR_RETURN(const std::string authority, ReadPem(security_.ca_file));
    SLUICE_ASSIGN_OR_RETURN(const std::string key, ReadPem(security_.key_file));
    SLUICE_ASSIGN_OR_RETURN(const std::string certificate, ReadPem(security_.cert_file));
    const grpc_ssl_pem_key_cert_pair pair = {key.c_str(), certificate.c_str()};
    // gRPC needs an authority even if clients show no certificate.
    const std::string& roots = authority.empty() ? certificate : authority;
    return grpc_ssl_server_certificate_config_create(roots.c_str(), &pair, 1);
  }

 private:
  grpc_server_credentials* Create() override {
    const auto request = security_.ca_file.empty()
                             ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                             : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY;
    return grpc_ssl_server_credentials_create_with_options(
        grpc_ssl_server_credentials_create_options_using_config_fetcher(request, &Fetch, this));
  }
  static grpc_ssl_certificate_config_reload_status Fetch(
      void* self, grpc_ssl_server_certificate_config** config) {
    auto& credentials = *static_cast<ReloadedCredentials*>(self);
    const int wanted = reloads.load();
    if (credentials.read_.load() == wanted) {
      return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    }
    const auto read = credentials.Read();
    if (!read.ok()) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_FAIL;  // the next client reads again
    credentials.read_.store(wanted);
    *config = *read;
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  const Security security_;
  std::atomic<int> read_{-1};  // value of `reloads` at the last read
};

class InsecureCredentials final : public TaskCredentials {
  grpc_server_credentials* Create() override { return grpc_insecure_server_credentials_create(); }
};

}  // namespace

TaskCredentials::~TaskCredentials() {
  if (credentials_ != nullptr) grpc_server_credentials_release(credentials_);
}

int TaskCredentials::AddPortToServer(const std::string& address, grpc_server* server) {
  credentials_ = Create();
  if (processor_) {
    grpc_server_credentials_set_auth_metadata_processor(credentials_, processor_());
  }
  return grpc_server_add_http2_port(server, address.c_str(), credentials_);
}

absl::StatusOr<std::string> ReadPem(const std::string& file) {
  if (file.empty()) return std::string();
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (in.good() && !text.str().empty()) return text.str();
  return absl::NotFoundError(StrCat("TLS: cannot read '", file, "'"));
}

absl::StatusOr<std::shared_ptr<TaskCredentials>> ServerCredentials(const Security& security) {
  if (!security.uses_tls()) return std::make_shared<InsecureCredentials>();
  SLUICE_RETURN_IF_ERROR(CheckPair(security));
  SLUICE_INVALID_IF(security.cert_file.empty(), "TLS: a server needs a certificate and its key");
  auto credentials = std::make_shared<ReloadedCredentials>(security);
  SLUICE_ASSIGN_OR_RETURN(grpc_ssl_server_certificate_config * config, credentials->Read());
  grpc_ssl_server_certificate_config_destroy(config);
  return credentials;
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

void ReplaceToken(const std::string& initial, std::string current) {
  Tokens::Global().Replace(initial, std::move(current));
}

std::string CurrentToken(const std::string& initial) { return Tokens::Global().Current(initial); }

void ReloadCertificates() { reloads.fetch_add(1); }

bool IsToken(std::string_view given, std::string_view expected) {
  if (expected.empty()) return given.empty();
  unsigned char different = given.size() == expected.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i) {
    different |= static_cast<unsigned char>(given[i] ^ expected[i % expected.size()]);
  }
  return different == 0;
}

}  // namespace sluice
