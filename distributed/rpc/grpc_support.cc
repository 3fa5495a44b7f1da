#include "distributed/rpc/grpc_support.h"

#include <string>

#include "grpc/grpc.h"

namespace sluice {

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  std::string message(status.message());
  if (message.size() > kMaxErrorMessageBytes) {
    message.resize(kMaxErrorMessageBytes);
    message += " ... [truncated]";
  }
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), message);
}

absl::Status FromGrpc(const grpc::Status& status) {
  const bool was_removed = status.error_code() == grpc::StatusCode::UNKNOWN &&
                           status.error_message() == "Stream removed";
  return absl::Status(was_removed ? absl::StatusCode::kUnavailable
                                  : static_cast<absl::StatusCode>(status.error_code()),
                      status.error_message());
}

void KeepGrpc() {
  [[maybe_unused]] static const bool is_kept = [] {
    grpc_init();
    return true;
  }();
}

}  // namespace sluice
