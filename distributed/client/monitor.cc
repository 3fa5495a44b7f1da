#include "distributed/client/monitor.h"

#include <utility>
#include <vector>

#include "distributed/wire/rpc_client.h"
#include "graph/status.h"
#include "grpcpp/support/slice.h"

namespace sluice {
namespace {

constexpr std::string_view kScheme = "grpc://";
constexpr int64_t kAnswerMs = 10'000;

absl::StatusOr<std::string> Ask(const char* path, const std::string& target,
                                const Security& security) {
  if (!target.starts_with(kScheme)) {
    return InvalidArgument("expected a target \"grpc://host:port\", got \"", target, "\"");
  }
  SLUICE_ASSIGN_OR_RETURN(auto client, RpcClient::Make(security));
  RpcClient::Call call;
  call.address = target.substr(kScheme.size());
  call.path = path;
  const grpc::Slice nothing;
  call.request = grpc::ByteBuffer(&nothing, 1);
  call.timeout_ms = kAnswerMs;
  grpc::ByteBuffer bytes;
  SLUICE_RETURN_IF_ERROR(
      Annotate(client->Run(std::move(call), &bytes), StrCat("the server at ", target, ": ")));
  std::vector<grpc::Slice> slices;
  bytes.Dump(&slices);
  std::string text;
  for (const grpc::Slice& slice : slices) {
    text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return text;
}

}  // namespace

absl::StatusOr<std::string> StallsAt(const std::string& target, const Security& security) {
  return Ask("/sluice.Monitor/Stalls", target, security);
}

absl::StatusOr<std::string> MetricsAt(const std::string& target, const Security& security) {
  return Ask("/sluice.Monitor/Metrics", target, security);
}

}  // namespace sluice
