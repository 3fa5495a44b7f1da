#include "distributed/rpc/grpc_support.h"

#include <string>

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

}  // namespace
}  // namespace sluice
