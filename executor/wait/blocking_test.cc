// Tests the classes on which blocked operations are built: CancellationManager, LocalRendezvous and
// Stalls, the table of blocked operations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "executor/wait/cancellation.h"
#include "executor/wait/rendezvous.h"
#include "executor/wait/stalls.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

TEST(Cancellation, CallbacksRunOnceAndNotAfterDeregistration) {
  CancellationManager manager;
  int first = 0, second = 0;
  const auto a = manager.NewToken(), b = manager.NewToken();
  ASSERT_TRUE(manager.Register(a, [&] { ++first; }));
  ASSERT_TRUE(manager.Register(b, [&] { ++second; }));
  EXPECT_TRUE(manager.Deregister(b));
  manager.StartCancel();
  manager.StartCancel();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 0);
  EXPECT_FALSE(manager.Register(manager.NewToken(), [] {}));
  EXPECT_FALSE(manager.Deregister(a));
  manager.Reset();
  EXPECT_FALSE(manager.IsCancelled());
}

TEST(Cancellation, ChildrenFollowTheirParent) {
  CancellationManager parent;
  CancellationManager child(&parent);
  parent.StartCancel();
  EXPECT_TRUE(child.IsCancelled());
  CancellationManager late(&parent);
  EXPECT_TRUE(late.IsCancelled());
}

TEST(Cancellation, NoTimeoutIsTooLong) {
  using Time = CancellationManager::Time;
  const Time now = std::chrono::steady_clock::now();
  const Time soon = CancellationManager::DeadlineAfter(60'000);
  EXPECT_GE(soon, now + std::chrono::seconds(60));
  EXPECT_LT(soon, now + std::chrono::hours(1));
  EXPECT_EQ(CancellationManager::DeadlineAfter(0), Time::max());
  EXPECT_EQ(CancellationManager::DeadlineAfter(-1), Time::max());
  // A hundred years still fit into a time of the clock. Longer ones would overflow.
  EXPECT_GT(CancellationManager::DeadlineAfter(int64_t{36525} * 24 * 3600 * 1000), now);
  for (const int64_t ms : {int64_t{1} << 45, int64_t{1} << 53, INT64_MAX}) {
    EXPECT_EQ(CancellationManager::DeadlineAfter(ms), Time::max()) << ms;
  }
}

TEST(Cancellation, WhatIsOverdueIsNotWanted) {
  const auto now = std::chrono::steady_clock::now();
  CancellationManager parent;
  EXPECT_TRUE(parent.IsWanted());
  parent.set_deadline(now + std::chrono::hours(1));
  CancellationManager in_time(&parent);
  EXPECT_TRUE(in_time.IsWanted());
  parent.set_deadline(now);
  CancellationManager overdue(&parent);
  EXPECT_FALSE(overdue.IsWanted());
  EXPECT_FALSE(overdue.IsCancelled());
  in_time.StartCancel();
  EXPECT_FALSE(in_time.IsWanted());
}

TEST(Rendezvous, ValuesMeetTheirReceiversInEitherOrder) {
  LocalRendezvous rendezvous;
  std::vector<float> got;
  const auto receive = [&] {
    rendezvous.RecvAsync("k", nullptr, [&](absl::Status status, Tensor value, bool is_dead) {
      ASSERT_TRUE(status.ok()) << status;
      got.push_back(is_dead ? -1 : value.scalar<float>());
    });
  };
  ASSERT_TRUE(rendezvous.Send("k", Tensor::Scalar(1.0f), false).ok());
  receive();
  receive();
  ASSERT_TRUE(rendezvous.Send("k", Tensor::Scalar(2.0f), false).ok());
  ASSERT_TRUE(rendezvous.Send("k", Tensor(), true).ok());
  receive();
  EXPECT_EQ(got, (std::vector<float>{1, 2, -1}));
}

TEST(Rendezvous, WaitersEndWithTheAbortOrTheCancellation) {
  LocalRendezvous rendezvous;
  CancellationManager cancellation;
  std::vector<absl::Status> ends;
  const auto done = [&](absl::Status status, Tensor, bool) { ends.push_back(status); };
  rendezvous.RecvAsync("a", &cancellation, done);
  cancellation.StartCancel();
  rendezvous.RecvAsync("b", nullptr, done);
  rendezvous.StartAbort(absl::InternalError("boom"));
  EXPECT_EQ(ends, (std::vector<absl::Status>{absl::CancelledError("RecvAsync is cancelled."),
                                             absl::InternalError("boom")}));
  EXPECT_EQ(rendezvous.Send("b", Tensor(), true), absl::InternalError("boom"));
}

TEST(Rendezvous, KeysGoThereAndBack) {
  const std::string text =
      "/job:ps/replica:0/task:0/device:CPU:0;00000000000000ff;"
      "/job:worker/replica:0/task:1/device:CPU:0;edge_7_w;0:0";
  absl::StatusOr<RendezvousKey> key = RendezvousKey::Parse(text);
  ASSERT_TRUE(key.ok()) << key.status();
  EXPECT_EQ(key->src_incarnation, 255u);
  EXPECT_EQ(key->tensor_name, "edge_7_w");
  EXPECT_EQ(key->ToString(), text);
  EXPECT_EQ(RendezvousKey::Parse("a;b;c").status(),
            absl::InvalidArgumentError("Invalid  rendezvous key: a;b;c"));
}

TEST(Stalls, TellWhoWaitsForWhat) {
  Stalls stalls;
  const Stalls::Entry entry =
      stalls.Open({7, "deq", "QueueDequeueV2", "queue 'q'", [] { return "0 elements"; }});
  EXPECT_THAT(stalls.ToString(), HasSubstr("'deq' (QueueDequeueV2) has waited "));
  EXPECT_THAT(stalls.ToString(7), HasSubstr("s for queue 'q': 0 elements"));
  EXPECT_EQ(stalls.ToString(8), "");
  stalls.Close(entry);
  EXPECT_EQ(stalls.ToString(), "");
}

}  // namespace
}  // namespace sluice
