#include "distributed/rpc/call_gate.h"

#include <chrono>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Connections from this number on are strangers.
constexpr CallGate::Connection kStrangers = 100;
constexpr char kRun[] = "/a.B/Run", kCheck[] = "/a.B/Check";

// The gate appends the connections that it has closed to `closed`.
CallGate::Options Limits(int64_t max, int64_t max_of_connection,
                         std::vector<CallGate::Connection>& closed) {
  return {.methods = {{kRun, true}, {kCheck, false}},
          .token = "word",
          .max = max,
          .max_of_connection = max_of_connection,
          .is_stranger = [](CallGate::Connection connection) { return connection >= kStrangers; },
          .close = [&closed](CallGate::Connection connection) { closed.push_back(connection); }};
}

class CallGateTest : public ::testing::Test {
 protected:
  absl::Status Begins(CallGate::Connection connection) {
    return gate_.Begins(connection, kRun, "word", now_);
  }
  // Begins `count` calls, and returns the number of those that the gate accepts.
  int Begin(CallGate::Connection connection, int count) {
    int accepted = 0;
    for (int i = 0; i < count; ++i) accepted += Begins(connection).ok() ? 1 : 0;
    return accepted;
  }
  std::vector<CallGate::Connection> closed_;
  CallGate gate_{Limits(/*max=*/100, /*max_of_connection=*/60, closed_)};
  CallGate::Time now_ = std::chrono::steady_clock::now();
};

TEST_F(CallGateTest, RejectsByMethodAndToken) {
  EXPECT_EQ(gate_.Begins(1, "/a.B/None", "word", now_).code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(gate_.Begins(1, kRun, "", now_).code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(gate_.Begins(1, kRun, "sword", now_).code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(gate_.open_calls(), 0);
  EXPECT_TRUE(gate_.Begins(1, kRun, "word", now_).ok());
  EXPECT_TRUE(gate_.Begins(1, kCheck, "", now_).ok());
  EXPECT_EQ(gate_.open_calls(), 2);
}

TEST_F(CallGateTest, LimitsTheCallsOfAConnection) {
  EXPECT_EQ(Begin(1, 1000), 60);
  const absl::Status status = Begins(1);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the connection has 60 open calls"));
  gate_.Arrives(1);
  gate_.Ends(1);
  EXPECT_EQ(Begin(1, 1000), 1);
}

TEST_F(CallGateTest, AConnectionAlwaysHasAFewCalls) {
  EXPECT_EQ(Begin(1, 1000), 60);
  EXPECT_EQ(Begin(2, 1000), 40);
  const absl::Status status = Begins(2);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the clients have 100 open calls"));
  EXPECT_EQ(Begin(3, 1000), CallGate::kAlways);
  EXPECT_EQ(gate_.open_calls(), 100 + CallGate::kAlways);
}

TEST_F(CallGateTest, ClosesAConnectionWithAThousandRejectedCalls) {
  for (int i = 0; i < CallGate::kMaxRejected - 1; ++i) {
    EXPECT_FALSE(gate_.Begins(1, kRun, "", now_).ok());
    EXPECT_FALSE(gate_.Begins(2, "/a.B/None", "word", now_).ok());
  }
  EXPECT_EQ(Begin(3, 60), 60);
  EXPECT_THAT(closed_, IsEmpty());
  EXPECT_FALSE(gate_.Begins(2, kRun, "", now_).ok());
  EXPECT_THAT(closed_, ElementsAre(2));
  EXPECT_EQ(Begin(3, CallGate::kMaxRejected), 0);
  EXPECT_THAT(closed_, ElementsAre(2, 3));
}

TEST_F(CallGateTest, AStrangerHasFewerCallsAndIsClosedSooner) {
  CallGate gate(Limits(/*max=*/10'000, /*max_of_connection=*/2000, closed_));
  const auto begin = [&](CallGate::Connection connection, int64_t count) {
    int64_t accepted = 0;
    for (; count > 0; --count) accepted += gate.Begins(connection, kRun, "word", now_).ok() ? 1 : 0;
    return accepted;
  };
  EXPECT_EQ(begin(1, 2000), 2000);
  EXPECT_EQ(begin(kStrangers, CallGate::kMaxOfStranger), CallGate::kMaxOfStranger);
  const absl::Status status = gate.Begins(kStrangers, kRun, "word", now_);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("before the first message"));
  EXPECT_EQ(begin(kStrangers, CallGate::kMaxRejectedOfStranger - 2), 0);
  EXPECT_THAT(closed_, IsEmpty());
  EXPECT_EQ(begin(kStrangers, 1), 0);
  EXPECT_THAT(closed_, ElementsAre(kStrangers));
}

TEST_F(CallGateTest, RejectedCallsOfALongTimeCloseNothing) {
  for (int i = 0; i < 10; ++i) {
    for (int k = 0; k < CallGate::kMaxRejected / 2; ++k) {
      EXPECT_FALSE(gate_.Begins(1, kRun, "", now_).ok());
    }
    now_ += CallGate::kWindow + std::chrono::seconds(1);
  }
  EXPECT_THAT(closed_, IsEmpty());
}

// gRPC does not report calls that end before the server gets them.
TEST_F(CallGateTest, CallsThatNeverArriveAreForgotten) {
  EXPECT_FALSE(gate_.has_waiting_calls());
  EXPECT_EQ(Begin(1, 1000), 60);
  EXPECT_TRUE(gate_.has_waiting_calls());
  for (int i = 0; i < 20; ++i) gate_.Arrives(1);
  now_ += std::chrono::seconds(4);
  EXPECT_EQ(Begin(1, 1000), 0);
  now_ += std::chrono::seconds(2);
  EXPECT_EQ(Begin(1, 1000), 40);
  for (int i = 0; i < 20; ++i) gate_.Ends(1);
  EXPECT_EQ(gate_.open_calls(), 40);
  for (int i = 0; i < 40; ++i) gate_.Arrives(1);
  EXPECT_FALSE(gate_.has_waiting_calls());
}

TEST_F(CallGateTest, ACallThatArrivesLateCountsAgain) {
  EXPECT_EQ(Begin(1, 1), 1);
  now_ += std::chrono::seconds(6);
  EXPECT_EQ(Begin(2, 1), 1);  // forgets the first one
  EXPECT_EQ(gate_.open_calls(), 1);
  gate_.Arrives(1);
  EXPECT_EQ(gate_.open_calls(), 2);
  gate_.Ends(1);
  EXPECT_EQ(gate_.open_calls(), 1);
}

}  // namespace
}  // namespace sluice
