#include "distributed/rpc/grpc_support.h"

#include <string>
#include <string_view>

#include "distributed/events/event_log.h"
#include "graph/strings.h"
#include "grpc/grpc.h"
#include "grpc/support/log.h"

namespace sluice {
namespace {

constexpr size_t kMaxLogBytes = 512;

void LogGrpc(gpr_log_func_args* args) {
  const LogLevel level = args->severity == GPR_LOG_SEVERITY_ERROR  ? LogLevel::kError
                         : args->severity == GPR_LOG_SEVERITY_INFO ? LogLevel::kInfo
                                                                   : LogLevel::kDebug;
  std::string message = args->message;
  if (message.size() > kMaxLogBytes) {
    message.resize(kMaxLogBytes);
    message += "...";
  }
  const std::string_view file = args->file;
  const std::string_view name = file.substr(file.rfind('/') + 1);
  LogEvent(level, "grpc", {{"message", message}, {"at", StrCat(name, ":", args->line)}});
}

}  // namespace

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

void LogGrpcAsEvents() { gpr_set_log_function(LogGrpc); }

void KeepGrpc() {
  [[maybe_unused]] static const bool is_kept = [] {
    grpc_init();
    return true;
  }();
}

}  // namespace sluice
