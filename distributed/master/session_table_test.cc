#include "distributed/master/session_table.h"

#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SessionTableTest : public ::testing::Test {
 protected:
  void Add(const std::string& handle, const std::string& client) {
    SessionOptions options;
    table_.Add(handle, table_.NewNumber(),
               std::make_shared<MasterSession>("/job:localhost/replica:0/task:0", options), client,
               100);
  }
  // Removes the sessions that have expired, and returns their numbers.
  std::vector<int64_t> Expire(const SessionLimits& limits) {
    std::vector<int64_t> numbers;
    for (const auto& expired :
         table_.RemoveExpired(limits, [this](const auto& c) { return connected_.contains(c); })) {
      numbers.push_back(expired.info.number);
    }
    return numbers;
  }
  bool Has(const std::string& handle) { return table_.Find(handle, "").ok(); }

  SessionTable table_;
  std::set<std::string> connected_;
};

// An example is a notebook, whose client stays connected, or connects again for its next call.
TEST_F(SessionTableTest, AnIdleSessionOfAConnectedClientStays) {
  Add("a", "ipv4:1.1.1.1:1");
  connected_ = {"ipv4:1.1.1.1:1"};
  EXPECT_THAT(Expire({.lost = milliseconds(1)}), IsEmpty());
  EXPECT_TRUE(Has("a"));
}

TEST_F(SessionTableTest, ALostClientsSessionIsClosedAfterTheTime) {
  Add("a", "ipv4:1.1.1.1:1");
  EXPECT_THAT(Expire({.lost = hours(1)}), IsEmpty());
  EXPECT_THAT(Expire({.lost = milliseconds(0)}), IsEmpty());  // 0 means never
  std::this_thread::sleep_for(milliseconds(2));
  EXPECT_THAT(Expire({.lost = milliseconds(1)}), IsEmpty());  // only notices the loss
  std::this_thread::sleep_for(milliseconds(2));
  EXPECT_THAT(Expire({.lost = milliseconds(1)}), ElementsAre(1));
  EXPECT_EQ(table_.Find("a", "").status().message(), "Session a is not found.");
}

TEST_F(SessionTableTest, AClientThatConnectsAgainKeepsItsSession) {
  Add("a", "ipv4:1.1.1.1:1");
  EXPECT_THAT(Expire({.lost = milliseconds(1)}), IsEmpty());
  connected_ = {"ipv4:1.1.1.1:2"};
  EXPECT_TRUE(table_.Find("a", "ipv4:1.1.1.1:2").ok());
  std::this_thread::sleep_for(milliseconds(2));
  EXPECT_THAT(Expire({.lost = milliseconds(1)}), IsEmpty());
  EXPECT_TRUE(Has("a"));
}

TEST_F(SessionTableTest, ASessionWithARunningCallStays) {
  Add("a", "ipv4:1.1.1.1:1");
  {
    const auto use = table_.Find("a", "");
    ASSERT_TRUE(use.ok());
    std::this_thread::sleep_for(milliseconds(2));
    EXPECT_THAT(Expire({.idle = milliseconds(1)}), IsEmpty());
    EXPECT_FALSE(table_.AwaitUnused(std::chrono::steady_clock::now()));
  }
  EXPECT_TRUE(table_.AwaitUnused(std::chrono::steady_clock::now()));
  std::this_thread::sleep_for(milliseconds(2));
  EXPECT_THAT(Expire({.idle = milliseconds(1)}), ElementsAre(1));
}

// A job that crashes and starts again, over and over, must not fill the memory for a day.
TEST_F(SessionTableTest, OfOneHostTheLatestLostSessionsAreKept) {
  Add("other", "ipv4:2.2.2.2:1");
  for (int i = 0; i < 5; ++i) {
    Add("s" + std::to_string(i), "ipv4:1.1.1.1:" + std::to_string(i));
    const SessionLimits limits{.lost_per_host = 3, .surplus_lost = milliseconds(0)};
    EXPECT_THAT(Expire(limits), SizeIs(i < 3 ? 0 : 1));
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_FALSE(Has("s0"));
  EXPECT_FALSE(Has("s1"));
  EXPECT_TRUE(Has("s2") && Has("s3") && Has("s4") && Has("other"));
}

// Five sessions of one client took all threads for steps.
TEST(SessionTable, AClientAndAHostMayRunSoManyCalls) {
  SessionTable table({.of_client = 2, .of_host = 3});
  for (const char* handle : {"a", "b", "c"}) {
    table.Add(handle, table.NewNumber(),
              std::make_shared<MasterSession>("/job:localhost/replica:0/task:0", SessionOptions()),
              "ipv4:1.1.1.1:1", 0);
  }
  auto first = table.Find("a", "ipv4:1.1.1.1:1");
  {
    const auto second = table.Find("b", "ipv4:1.1.1.1:1");
    EXPECT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(table.Find("c", "ipv4:1.1.1.1:1").status(),
              absl::ResourceExhaustedError("expected at most 2 steps of client ipv4:1.1.1.1:1 that "
                                           "run at once, got more"));
    const auto other = table.Find("c", "ipv4:1.1.1.1:2");
    EXPECT_TRUE(other.ok());
    EXPECT_EQ(table.Find("c", "ipv4:1.1.1.1:3").status(),
              absl::ResourceExhaustedError("expected at most 3 steps of client ipv4:1.1.1.1 that "
                                           "run at once, got more"));
    EXPECT_TRUE(table.Find("c", "ipv4:2.2.2.2:1").ok());
    EXPECT_TRUE(table.Find("c", "").ok());
  }
  EXPECT_TRUE(table.Find("c", "ipv4:1.1.1.1:3").ok());
}

TEST_F(SessionTableTest, DescribesSessionsWithoutTheirHandles) {
  Add("secret", "ipv4:1.1.1.1:1");
  const auto use = table_.Find("secret", "ipv4:1.1.1.1:2");
  const std::vector<SessionInfo> infos = table_.Describe([](const auto&) { return false; });
  ASSERT_THAT(infos, SizeIs(1));
  EXPECT_EQ(infos[0].number, 1);
  EXPECT_EQ(infos[0].client, "ipv4:1.1.1.1:2");
  EXPECT_EQ(infos[0].running, 1);
  EXPECT_EQ(infos[0].graph_bytes, 100);
  EXPECT_FALSE(infos[0].is_connected);
}

}  // namespace
}  // namespace sluice
