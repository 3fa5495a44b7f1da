#include "distributed/events/event_log.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

class EventLogTest : public ::testing::Test {
 protected:
  void Use(const std::string& level, const std::string& format) {
    EventLogOptions options;
    ASSERT_TRUE(ParseLogOptions(level, format, &options).ok());
    options.sink = [this](const std::string& line) { lines_.push_back(line); };
    SetEventLog(options);
  }
  void TearDown() override { SetEventLog({}); }

  std::vector<std::string> lines_;
};

TEST_F(EventLogTest, ALineHasTimeLevelNameAndValues) {
  Use("info", "text");
  LogEvent(LogLevel::kWarning, "session_closed", {{"client", "a b"}, {"age_s", "7"}});
  ASSERT_THAT(lines_, SizeIs(1));
  EXPECT_THAT(lines_[0], MatchesRegex("[0-9-]+T[0-9:]+\\.[0-9]+Z WARNING session_closed "
                                      "client=\"a b\" age_s=7\n"));
}

// A client names its nodes, so their names must not forge lines of the log.
TEST_F(EventLogTest, AValueCannotForgeALine) {
  Use("info", "json");
  LogEvent(LogLevel::kInfo, "step", {{"node", "x\"}\n{\"level\": \"ERROR\xff"}});
  ASSERT_THAT(lines_, SizeIs(1));
  EXPECT_THAT(lines_[0], EndsWith("\"level\": \"INFO\", \"event\": \"step\", \"node\": "
                                  "\"x\\\"}\\n{\\\"level\\\": \\\"ERROR\\ufffd\"}\n"));
  Use("info", "text");
  LogEvent(LogLevel::kInfo, "step", {{"node", "x\nERROR y"}});
  EXPECT_THAT(lines_[1], EndsWith("node=\"x\\nERROR y\"\n"));
}

TEST_F(EventLogTest, EventsBelowTheLevelAreDropped) {
  Use("warning", "text");
  LogEvent(LogLevel::kInfo, "a");
  LogEvent(LogLevel::kError, "b");
  EXPECT_THAT(lines_, ElementsAre(HasSubstr(" ERROR b\n")));
}

TEST_F(EventLogTest, AFloodOfOneEventLeavesOthersVisible) {
  Use("info", "text");
  for (int i = 0; i < 1000; ++i) LogEvent(LogLevel::kInfo, "flood");
  LogEvent(LogLevel::kInfo, "other");
  ASSERT_THAT(lines_, SizeIs(kEventsPerPeriod + 1));
  EXPECT_THAT(lines_.back(), HasSubstr(" other\n"));
}

TEST(ParseLogOptions, RejectsOtherWords) {
  EventLogOptions options;
  EXPECT_EQ(ParseLogOptions("loud", "text", &options).message(),
            "log level: expected debug, info, warning or error, got 'loud'");
  EXPECT_EQ(ParseLogOptions("info", "xml", &options).message(),
            "log format: expected text or json, got 'xml'");
}

}  // namespace
}  // namespace sluice
