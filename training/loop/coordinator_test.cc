#include "training/loop/coordinator.h"

#include <atomic>
#include <future>

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

}  // namespace
}  // namespace sluice
