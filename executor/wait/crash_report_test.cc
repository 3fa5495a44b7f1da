#include "executor/wait/crash_report.h"

#include <csignal>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::KilledBySignal;

TEST(CrashReportDeathTest, NamesSignalStepNodeAndStack) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ReportCrashes();
        const RunningNode running("dense/MatMul", "MatMul", 12);
        std::raise(SIGSEGV);
      },
      KilledBySignal(SIGSEGV),
      AllOf(HasSubstr("FATAL SIGSEGV at address 0x"),
            HasSubstr("running node 'dense/MatMul' (MatMul) of step 12\n"),
            ContainsRegex("\\(\\+0x[0-9a-f]+\\)\\[0x")));
}

TEST(CrashReportDeathTest, AThreadWithoutANodeReportsItsStack) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ReportCrashes();
        std::thread([] { std::raise(SIGABRT); }).join();
      },
      KilledBySignal(SIGABRT), HasSubstr("FATAL SIGABRT in thread "));
}

TEST(RunningNode, ReturnsToTheNodeOfTheFunction) {
  EXPECT_EQ(RunningNode::Current().name, nullptr);
  const RunningNode call("call", "PartitionedCall", 1);
  {
    const RunningNode inner("inner", "Add", 2);
    EXPECT_STREQ(RunningNode::Current().name, "inner");
  }
  EXPECT_STREQ(RunningNode::Current().name, "call");
  EXPECT_EQ(RunningNode::Current().step, 1);
}

}  // namespace
}  // namespace sluice
