#include "training/loop/coordinator.h"

#include <atomic>
#include <future>

#include "executor/wait/cancellation.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

TEST(CoordinatorTest, AnErrorOfOneThreadStopsAllAndIsReported) {
  Coordinator coord;
  coord.Start("waits", [&] {
    coord.WaitForStop();
    return absl::OkStatus();
  });
  coord.Start("fails", [] { return absl::InternalError("disk full"); });
  EXPECT_EQ(coord.Join(), absl::InternalError("disk full"));
  EXPECT_TRUE(coord.ShouldStop());
}

TEST(CoordinatorTest, TheEndOfInputIsAQuietStop) {
  Coordinator coord;
  coord.Start("reader", [] { return absl::OutOfRangeError("queue is closed"); });
  EXPECT_TRUE(coord.Join().ok());
  EXPECT_TRUE(coord.ShouldStop());
}

TEST(CoordinatorTest, ErrorsAfterTheStopAreItsEcho) {
  Coordinator coord;
  coord.RequestStop();
  coord.Start("echo", [] { return absl::CancelledError("step was cancelled"); });
  EXPECT_TRUE(coord.Join().ok());
}

TEST(CoordinatorTest, JoinNamesThreadsThatDoNotEndInTime) {
  std::promise<void> release;
  Coordinator coord;
  coord.Start("stuck", [&] {
    release.get_future().wait();
    return absl::OkStatus();
  });
  coord.RequestStop();
  const absl::Status status = coord.Join(std::chrono::milliseconds(1));
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(status.message(), HasSubstr("stuck"));
  release.set_value();
  EXPECT_TRUE(coord.Join().ok());
}

TEST(CoordinatorTest, StopCallbacksRunOnceAndAtOnceWhenLate) {
  Coordinator coord;
  std::atomic<int> calls{0};
  coord.OnStop([&] { ++calls; });
  coord.RequestStop();
  coord.RequestStop();
  EXPECT_EQ(calls, 1);
  coord.OnStop([&] { ++calls; });
  EXPECT_EQ(calls, 2);
}

TEST(CoordinatorTest, WaitForStopTimesOutAndWakes) {
  Coordinator coord;
  EXPECT_FALSE(coord.WaitForStop(std::chrono::milliseconds(1)));
  coord.RequestStop();
  EXPECT_TRUE(coord.WaitForStop());
}

// Cancels `manager` when another thread waits in such a way that only the callback of the
// cancellation can end its wait.
class Canceller {
 public:
  explicit Canceller(CancellationManager& manager)
      : thread_([&manager] { manager.StartCancel(); }) {}
  ~Canceller() { thread_.join(); }

 private:
  std::thread thread_;
};

TEST(CoordinatorTest, AJoinCanBeCancelledAndTheThreadsStay) {
  std::promise<void> release;
  Coordinator coord;
  coord.Start("works", [&] {
    release.get_future().wait();
    return absl::OkStatus();
  });
  CancellationManager cancellation;
  {
    Canceller canceller(cancellation);
    const absl::Status status = coord.Join({.cancellation = &cancellation});
    EXPECT_EQ(status,
              absl::CancelledError("Coordinator's join was cancelled; still running: works"));
  }
  EXPECT_FALSE(coord.joined());
  EXPECT_FALSE(coord.ShouldStop());
  EXPECT_THAT(coord.LiveThreads(), ::testing::ElementsAre("works"));
  release.set_value();
  EXPECT_TRUE(coord.Join().ok());
  EXPECT_TRUE(coord.joined());
}

TEST(CoordinatorTest, AJoinCanBeCancelledInItsGracePeriod) {
  std::promise<void> release;
  Coordinator coord;
  coord.Start("stuck", [&] {
    release.get_future().wait();
    return absl::OkStatus();
  });
  coord.RequestStop();
  CancellationManager cancellation;
  cancellation.StartCancel();
  EXPECT_EQ(coord.Join({.cancellation = &cancellation}).code(), absl::StatusCode::kCancelled);
  release.set_value();
  EXPECT_TRUE(coord.Join().ok());
}

TEST(CoordinatorTest, AWaitForTheStopCanBeCancelled) {
  Coordinator coord;
  CancellationManager cancellation;
  Canceller canceller(cancellation);
  EXPECT_FALSE(coord.WaitForStop(std::nullopt, &cancellation));
}

TEST(CoordinatorTest, IgnoredThreadsAreNoErrorButStayKnown) {
  std::promise<void> release;
  Coordinator coord;
  coord.Start("stuck", [&] {
    release.get_future().wait();
    return absl::OkStatus();
  });
  coord.Start("ends", [] { return absl::OkStatus(); });
  coord.RequestStop();
  EXPECT_TRUE(
      coord.Join({.grace = std::chrono::milliseconds(1), .ignore_live_threads = true}).ok());
  EXPECT_TRUE(coord.joined());
  EXPECT_THAT(coord.LiveThreads(), ::testing::Contains("stuck"));
  release.set_value();
}

TEST(CoordinatorTest, TheFirstErrorWinsOverLiveThreads) {
  std::promise<void> release;
  Coordinator coord;
  coord.Start("stuck", [&] {
    release.get_future().wait();
    return absl::OkStatus();
  });
  coord.RequestStop(absl::DataLossError("first"));
  coord.RequestStop(absl::InternalError("second"));
  EXPECT_EQ(coord.RequestedError(), absl::DataLossError("first"));
  EXPECT_EQ(coord.Join(std::chrono::milliseconds(1)), absl::DataLossError("first"));
  release.set_value();
}

TEST(CoordinatorTest, AnErrorInTheCallersThreadStopsTheOthers) {
  Coordinator coord;
  coord.Start("waits", [&] {
    coord.WaitForStop();
    return absl::OkStatus();
  });
  coord.StopOnError([] { return absl::OkStatus(); });
  EXPECT_FALSE(coord.ShouldStop());
  coord.StopOnError([] { return absl::UnknownError("mine"); });
  EXPECT_EQ(coord.Join(), absl::UnknownError("mine"));
}

TEST(CoordinatorTest, ALoopRunsUntilTheStop) {
  Coordinator coord;
  int calls = 0;
  coord.StartLoop("loops", std::chrono::milliseconds(0), [&] {
    if (++calls == 5) coord.RequestStop();
    return absl::OkStatus();
  });
  EXPECT_TRUE(coord.Join().ok());
  EXPECT_EQ(calls, 5);
}

TEST(CoordinatorTest, ALoopWithAPaceWaitsForTheStopBetweenCalls) {
  Coordinator coord;
  std::promise<void> called;
  coord.StartLoop("paced", std::chrono::hours(1), [&] {
    called.set_value();  // a second call would throw
    return absl::OkStatus();
  });
  called.get_future().wait();
  coord.RequestStop();
  EXPECT_TRUE(coord.Join().ok());
}

TEST(CoordinatorTest, ItCanGoAnotherRound) {
  Coordinator coord;
  coord.Start("fails", [] { return absl::InternalError("boom"); });
  EXPECT_FALSE(coord.Join().ok());
  coord.ClearStop();
  EXPECT_FALSE(coord.ShouldStop());
  coord.Start("ends", [] { return absl::OkStatus(); });
  EXPECT_TRUE(coord.Join().ok());
}

}  // namespace
}  // namespace sluice
