#include "distributed/wire/status.h"

#include <string>

#include "graph/strings.h"

namespace sluice {

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  std::string message(status.message());
  if (message.size() > kMostMessageBytes) {
    message.resize(kMostMessageBytes);
    message += " ... [truncated]";
  }
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), message);
}

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  const bool was_removed = status.error_code() == grpc::StatusCode::UNKNOWN &&
                           status.error_message() == "Stream removed";
  return absl::Status(was_removed ? absl::StatusCode::kUnavailable
                                  : static_cast<absl::StatusCode>(status.error_code()),
                      status.error_message());
}

}  // namespace sluice
