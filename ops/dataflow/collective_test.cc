// Tests errors and stall reports (lists of waiting operations) of collective groups: missing
// members, members that left, and members that do not match.
#include <thread>

#include "executor/device/device_set.h"
#include "executor/session/session.h"
#include "executor/testing/await_report.h"
#include "executor/wait/cancellation.h"
#include "gmock/gmock.h"
#include "graph/build/scopes.h"
#include "graph/build/while.h"
#include "graph/status.h"
#include "gtest/gtest.h"
#include "ops/builders/ops.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Device(int i) { return StrCat("/device:CPU:", i); }

Output Member(Graph& g, int i, int size, const Output& value, std::string_view merge = "Add",
              int group_key = 1) {
  DeviceScope on(g, Device(i));
  return CollectiveReduce(value, size, group_key, 7, merge, "Id", {0},
                          {.name = StrCat("member", i)});
}

Output Value(Graph& g, std::vector<float> v) {
  return Constant(g, Tensor::Vector<float>(absl::MakeConstSpan(v)));
}

std::vector<float> Floats(const Tensor& t) {
  return {t.data<float>(), t.data<float>() + t.num_elements()};
}

TEST(CollectiveTest, ACancelledStepEndsItsWaitingMembersAndTheNextOneBeginsAnew) {
  Graph g;
  OutputList members;
  for (int i = 0; i < 3; ++i) members.push_back(Member(g, i, 3, Value(g, {1.0f + i})));
  Session session(g, {.cpu_devices = 3});
  CancellationManager cancellation;
  std::thread canceller([&] {
    EXPECT_THAT(AwaitReport(session, {"2 of 3 members have come", "'member0'"}),
                AllOf(HasSubstr("'member0' (CollectiveReduce)"), HasSubstr("collective group 1"),
                      HasSubstr("device:CPU:0, /job:localhost/replica:0/task:0/device:CPU:1")));
    cancellation.StartCancel();
  });
  const auto cancelled =
      session.Run({}, {members[0], members[1]}, {}, {.cancellation = &cancellation});
  canceller.join();
  EXPECT_EQ(cancelled.status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(session.StallReport(), "");
  const auto sums = session.Run({}, members, {});
  ASSERT_TRUE(sums.ok()) << sums.status();
  for (const Tensor& sum : *sums) EXPECT_EQ(Floats(sum), std::vector<float>({6}));
}

TEST(CollectiveTest, AMemberThatIsMissingIsNamedInTheStallReport) {
  Graph g;
  OutputList members;
  for (int i = 0; i < 3; ++i) members.push_back(Member(g, i, 3, Value(g, {1.0f})));
  Session session(g, {.cpu_devices = 3});
  ASSERT_TRUE(session.Run({}, members, {}).ok());  // makes the members of the group known
  CancellationManager cancellation;
  std::thread canceller([&] {
    EXPECT_THAT(AwaitReport(session, {"2 of 3 members of this task have come"}),
                HasSubstr("missing: /job:localhost/replica:0/task:0/device:CPU:2"));
    cancellation.StartCancel();
  });
  EXPECT_FALSE(session.Run({}, {members[0], members[1]}, {}, {.cancellation = &cancellation}).ok());
  canceller.join();
}

// Has two sessions that share the devices of one task. Each session has one member.
class CollectiveReplicas : public ::testing::Test {
 protected:
  void SetUp() override {
    devices_ = DeviceSet::Cpus(2);
    for (int i = 0; i < 2; ++i) {
      x_[i] = Placeholder(g_[i], DT_FLOAT, {}, "x");
      sum_[i] = Member(g_[i], i, 2, x_[i]);
      session_[i] = std::make_unique<Session>(g_[i], SessionOptions{.devices = devices_});
    }
  }
  absl::StatusOr<float> Run(int i, float x, CancellationManager* cancellation = nullptr) {
    SLUICE_ASSIGN_OR_RETURN(const Tensors sum,
                            session_[i]->Run({{x_[i], Tensor::Scalar(x)}}, {sum_[i]}, {},
                                             {.cancellation = cancellation}));
    return sum[0].scalar<float>();
  }
  // Runs both members at the same time. Returns both sums, with 0 for a member that failed.
  std::pair<float, float> RunBoth(float a, float b) {
    absl::StatusOr<float> first;
    std::thread thread([&] { first = Run(0, a); });
    const absl::StatusOr<float> second = Run(1, b);
    thread.join();
    EXPECT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
    return {first.value_or(0), second.value_or(0)};
  }

  std::shared_ptr<DeviceSet> devices_;
  Graph g_[2];
  Output x_[2], sum_[2];
  std::unique_ptr<Session> session_[2];
};

TEST_F(CollectiveReplicas, SessionsMeetInEachRound) {
  std::thread other([&] {
    for (int i = 0; i < 50; ++i) EXPECT_EQ(Run(1, 100.0f * i).value_or(-1), 101.0f * i) << i;
  });
  for (int i = 0; i < 50; ++i) EXPECT_EQ(Run(0, 1.0f * i).value_or(-1), 101.0f * i) << i;
  other.join();
}

TEST_F(CollectiveReplicas, WhoLeavesEndsTheOthersWithTheReason) {
  EXPECT_EQ(RunBoth(1, 2), std::make_pair(3.0f, 3.0f));
  CancellationManager cancellation;
  std::thread canceller([&] {
    AwaitReport(*session_[0], {"missing: /job:localhost/replica:0/task:0/device:CPU:1"});
    cancellation.StartCancel();
  });
  EXPECT_EQ(Run(0, 1, &cancellation).status().code(), absl::StatusCode::kCancelled);
  canceller.join();
  // The other member comes late, and must not combine its value with one of a later round.
  const absl::Status told = Run(1, 2).status();
  EXPECT_EQ(told.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(
      told.message(),
      HasSubstr("member /job:localhost/replica:0/task:0/device:CPU:0 (CollectiveReduce node "
                "'member0') has left collective group 1: its step was cancelled"));
  EXPECT_EQ(RunBoth(10, 20), std::make_pair(30.0f, 30.0f));
}

TEST(CollectiveErrors, MembersWithOtherMergeOpsAreRefused) {
  Graph g;
  const Output a = Member(g, 0, 2, Value(g, {1}), "Add");
  const Output b = Member(g, 1, 2, Value(g, {1}), "Mul");
  Session session(g, {.cpu_devices = 2});
  const absl::Status status = session.Run({}, {a, b}, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("expect the same merge_op"), HasSubstr("member")));
}

TEST(CollectiveErrors, TwoMembersOnOneDeviceAreRefused) {
  Graph g;
  const Output a = Member(g, 0, 2, Value(g, {1}));
  const Output b = Member(g, 0, 2, Value(g, {1}));
  const Output c = Member(g, 1, 2, Value(g, {1}));
  Session session(g, {.cpu_devices = 2});
  const absl::Status status = session.Run({}, {a, b, c}, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("a device is one member"));
}

TEST(CollectiveErrors, KeysBeyondInt32AreRefused) {
  Graph g;
  const Output value = Value(g, {1});
  const auto message = [&g, &value](int64_t size, int64_t group_key, int64_t instance_key) {
    const Output sum = CollectiveReduce(value, size, group_key, instance_key, "Add", "Id", {0});
    const absl::Status status = Session(g).Run({}, {sum}, {}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  constexpr int64_t kOne = (int64_t{1} << 32) + 1;
  const std::string end = " has value 4294967297 out of range for an int32";
  EXPECT_THAT(message(kOne, 1, 1), HasSubstr("Attr group_size" + end));
  EXPECT_THAT(message(1, kOne, 1), HasSubstr("Attr group_key" + end));
  EXPECT_THAT(message(1, 1, kOne), HasSubstr("Attr instance_key" + end));
}

TEST(CollectiveLoops, EachIterationIsARoundOfItsOwn) {
  Graph g;
  OutputList totals;
  for (int i = 0; i < 2; ++i) {
    DeviceScope on(g, Device(i));
    const OutputList out = WhileLoop(
        [&](const OutputList& v) { return Less(v[0], Constant(g, 4)); },
        [&](const OutputList& v) {
          const Output mine = Cast(v[0] + i, DT_FLOAT);
          return OutputList{v[0] + 1, v[1] + CollectiveReduce(mine, 2, 1, 9, "Add", "Id", {0})};
        },
        {Constant(g, 0), Constant(g, 0.0f)});
    totals.push_back(out[1]);
  }
  ASSERT_TRUE(g.status().ok()) << g.status();
  Session session(g, {.cpu_devices = 2});
  const auto got = session.Run({}, totals, {});
  ASSERT_TRUE(got.ok()) << got.status();
  for (const Tensor& t : *got) EXPECT_EQ(t.scalar<float>(), 1 + 3 + 5 + 7);
}

// As in TensorFlow, a Recv itself has no time limit. If no Send has the same name or incarnation,
// only the limit of the step ends the Recv.
TEST(Transfers, ARecvThatNoSendFitsWaitsUntilTheStepsLimit) {
  struct Wanted {
    std::string_view name;
    int64_t incarnation;
    bool fits;
  };
  for (const Wanted& wanted : {Wanted{"x", 1, true}, {"y", 1, false}, {"x", 2, false}}) {
    Graph g;
    const std::string cpu = "/job:localhost/replica:0/task:0/device:CPU:0";
    const Operation send = Send(Value(g, {4, 2}), "x", cpu, 1, cpu);
    const Output recv =
        Recv(g, DT_FLOAT, wanted.name, cpu, wanted.incarnation, cpu, {.name = "taker"});
    Session session(g);
    const auto got = session.Run({}, {recv}, {send}, {.timeout_ms = wanted.fits ? 60'000 : 50});
    if (wanted.fits) {
      ASSERT_TRUE(got.ok()) << got.status();
      EXPECT_EQ(Floats((*got)[0]), std::vector<float>({4, 2}));
    } else {
      EXPECT_EQ(got.status().code(), absl::StatusCode::kDeadlineExceeded) << got.status();
    }
  }
}

}  // namespace
}  // namespace sluice
