#include "training/loop/clock.h"

#include <atomic>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "training/loop/log.h"

namespace sluice {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;

TEST(ManualClockTest, AWaitEndsWhenTimeIsToldToGoOn) {
  ManualClock clock;
  auto wake = std::make_shared<Wake>();
  std::atomic<bool> ended{false};
  std::thread waits([&] {
    EXPECT_FALSE(clock.Wait(wake, seconds(10)));
    ended = true;
  });
  clock.AwaitWaiting(1);
  clock.Advance(seconds(9));
  EXPECT_FALSE(ended);
  clock.Advance(seconds(1));
  waits.join();
  EXPECT_EQ(clock.Now(), seconds(10));
}

TEST(ManualClockTest, AWakeEndsAWaitAtOnceAndStaysSet) {
  ManualClock clock;
  auto wake = std::make_shared<Wake>();
  std::thread waits([&] { EXPECT_TRUE(clock.Wait(wake, std::nullopt)); });
  clock.AwaitWaiting(1);
  wake->Set();
  waits.join();
  EXPECT_TRUE(clock.Wait(wake, seconds(1)));
  wake->Reset();
  EXPECT_FALSE(wake->is_set());
}

TEST(RealClockTest, WaitsAndWakes) {
  auto wake = std::make_shared<Wake>();
  EXPECT_FALSE(Clock::Real().Wait(wake, std::chrono::milliseconds(1)));
  std::thread wakes([&] { wake->Set(); });
  EXPECT_TRUE(Clock::Real().Wait(wake, std::nullopt));
  wakes.join();
}

TEST(LogTest, LinesGoToTheSinkWithTheirSeverity) {
  std::vector<std::pair<LogSeverity, std::string>> lines;
  LogSink before = SetLogSink(
      [&](LogSeverity severity, const std::string& line) { lines.emplace_back(severity, line); });
  LogInfo("step ", 3);
  LogWarning("slow");
  SetLogSink(std::move(before));
  EXPECT_THAT(lines, ElementsAre(std::pair(LogSeverity::kInfo, "step 3"),
                                 std::pair(LogSeverity::kWarning, "slow")));
}

TEST(LogTest, LinesStandAboveTheLiveLine) {
  ::testing::internal::CaptureStderr();
  {
    LiveLine live(/*terminal=*/true);
    live.Show("50 %");
    LogInfo("saved");
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "\r\x1b[K50 %\r\x1b[KINFO: saved\n\r\x1b[K50 %\n");
}

TEST(LogTest, WithoutATerminalThereIsNoLiveLine) {
  ::testing::internal::CaptureStderr();
  {
    LiveLine live(/*terminal=*/false);
    live.Show("50 %");
    LogError("lost");
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "ERROR: lost\n");
}

}  // namespace
}  // namespace sluice
