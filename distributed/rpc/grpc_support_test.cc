#include "distributed/rpc/grpc_support.h"

#include <string>
#include <vector>

#include "distributed/events/event_log.h"
#include "gmock/gmock.h"
#include "grpc/support/log.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

TEST(GrpcStatus, KeepsCodeAndMessage) {
  const absl::Status error = absl::OutOfRangeError("no more");
  EXPECT_EQ(FromGrpc(ToGrpc(error)), error);
  EXPECT_TRUE(FromGrpc(ToGrpc(absl::OkStatus())).ok());
}

TEST(GrpcStatus, LongMessagesAreCut) {
  const grpc::Status status = ToGrpc(absl::InternalError(std::string(10'000, 'x')));
  const std::string mark = " ... [truncated]";
  EXPECT_EQ(status.error_message().size(), kMaxErrorMessageBytes + mark.size());
  EXPECT_TRUE(status.error_message().ends_with("xx" + mark));
}

TEST(GrpcStatus, ARemovedStreamIsALostConnection) {
  EXPECT_EQ(FromGrpc({grpc::StatusCode::UNKNOWN, "Stream removed"}).code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(FromGrpc({grpc::StatusCode::UNKNOWN, "other"}).code(), absl::StatusCode::kUnknown);
}

// Without quotes, a client could write escape sequences to the operator's terminal, and forge lines
// of the log.
TEST(GrpcLog, BytesOfPeersAreQuoted) {
  std::vector<std::string> lines;
  EventLogOptions options;
  options.sink = [&lines](const std::string& line) { lines.push_back(line); };
  SetEventLog(options);
  LogGrpcAsEvents();
  KeepGrpc();  // gRPC reads its level of messages
  for (int i = 0; i < 100; ++i) {
    gpr_log("/src/core/hpack.cc", 7, GPR_LOG_SEVERITY_ERROR, "key=%s",
            "a\x1b]0;owned\x07\r\nERROR forged\xff");
  }
  SetEventLog({});
  ASSERT_EQ(lines.size(), static_cast<size_t>(kEventsPerPeriod));
  for (const char c : lines[0].substr(0, lines[0].size() - 1)) {
    EXPECT_TRUE(c >= ' ' || c < 0) << lines[0];
  }
  EXPECT_THAT(lines[0], testing::HasSubstr(" ERROR grpc message=\"key=a\\u001b]0;owned"));
  EXPECT_THAT(lines[0], testing::HasSubstr("at=hpack.cc:7"));
}

}  // namespace
}  // namespace sluice
