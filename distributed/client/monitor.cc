#include "distributed/client/monitor.h"

#include "distributed/message/bytes.h"
#include "distributed/message/service_methods.h"
#include "distributed/rpc/rpc_client.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr std::string_view kScheme = "grpc://";
constexpr int64_t kAnswerMs = 10'000;

absl::StatusOr<std::string> Ask(const char* path, const std::string& target,
                                const Security& security) {
  SLUICE_INVALID_IF(!target.starts_with(kScheme), "expected a target \"grpc://host:port\", got \"",
                    target, "\"");
  SLUICE_ASSIGN_OR_RETURN(auto client, RpcClient::Make({.security = security}));
  const absl::StatusOr<grpc::ByteBuffer> response =
      client->Run({.address = target.substr(kScheme.size()),
                   .path = path,
                   .request = BytesOf(""),
                   .timeout_ms = kAnswerMs});
  if (response.ok()) return TextOf(*response);
  return Annotate(response.status(), StrCat("the server at ", target, ": "));
}

}  // namespace

absl::StatusOr<std::string> StallsAt(const std::string& target, const Security& security) {
  return Ask(kStallsMethod, target, security);
}

absl::StatusOr<std::string> MetricsAt(const std::string& target, const Security& security) {
  return Ask(kMetricsMethod, target, security);
}

}  // namespace sluice
