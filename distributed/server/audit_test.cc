// Tests the audit log of a server: its lines for sessions, graphs, and the files that steps use.
#include <fstream>
#include <string>
#include <vector>

#include "distributed/client/remote_session.h"
#include "distributed/events/audit_log.h"
#include "distributed/server/server.h"
#include "executor/kernel/context.h"
#include "executor/session/partial_run.h"
#include "executor/testing/test_ops.h"
#include "executor/wait/session_scope.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using namespace testing;  // NOLINT: the ops of test_ops.h
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> LinesOf(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(AuditTest, NamesSessionsAndGraphs) {
  const std::string path = ::testing::TempDir() + "/audit.jsonl";
  ASSERT_TRUE(OpenAuditLog(path).ok());
  const auto server = Server::Start({.port = 0});
  ASSERT_TRUE(server.ok()) << server.status();
  Graph g;
  const Output y = Add(Const(g, 1), Const(g, 2));
  std::string hash;
  for (const char* number : {"1", "2"}) {
    auto session = RemoteSession::Connect(g, (*server)->target());
    ASSERT_TRUE(session.ok()) << session.status();
    ASSERT_TRUE((*session)->Run({}, {y}).ok());
    ASSERT_TRUE((*session)->Close().ok());
    const std::vector<std::string> lines = LinesOf(path);
    const std::string session_is = std::string("\"session\": \"") + number + "\"";
    ASSERT_GE(lines.size(), 3u);
    EXPECT_THAT(lines[lines.size() - 3], AllOf(HasSubstr("\"event\": \"session_created\""),
                                               HasSubstr(session_is), HasSubstr("\"client\": \"")));
    // The client sends the nodes with its first step.
    const std::string& extended = lines[lines.size() - 2];
    EXPECT_THAT(extended, AllOf(HasSubstr("\"event\": \"graph_extended\""), HasSubstr(session_is),
                                HasSubstr("\"nodes\": \"3\"")));
    EXPECT_THAT(lines.back(), AllOf(HasSubstr("\"event\": \"session_closed\""),
                                    HasSubstr(session_is), HasSubstr("its client closed it")));
    const std::string key = "\"graph_sha256\": \"";
    const std::string found = extended.substr(extended.find(key) + key.size(), 64);
    EXPECT_EQ(hash.empty() ? found : hash, found);  // equal graphs have equal hashes
    hash = found;
  }
}

// Steps of a session, on whatever thread, know its number.
TEST(AuditTest, StepsKnowTheirSession) {
  const auto server = Server::Start({.port = 0});
  ASSERT_TRUE(server.ok()) << server.status();
  Graph g;
  const Output y = Hooked(Const(g, 1), "hook");
  std::vector<int64_t> sessions;
  SetHook("hook", [&] { sessions.push_back(SessionScope::Current()); });
  for (int i = 0; i < 2; ++i) {
    auto session = RemoteSession::Connect(g, (*server)->target());
    ASSERT_TRUE(session.ok()) << session.status();
    ASSERT_TRUE((*session)->Run({}, {y}).ok());
  }
  EXPECT_THAT(sessions, ElementsAre(1, 2));
  EXPECT_EQ(SessionScope::Current(), 0);
  ClearHooks();
}

// The uses of files in a partial run named no session.
TEST(AuditTest, PartialRunsKnowTheirSession) {
  const auto server = Server::Start({.port = 0});
  ASSERT_TRUE(server.ok()) << server.status();
  Graph g;
  const Output x = Placeholder(g, DT_INT32, {}, "x");
  const std::string y = Hooked(x, "hook").name();
  std::vector<int64_t> sessions;
  SetHook("hook", [&] { sessions.push_back(SessionScope::Current()); });
  for (int i = 0; i < 2; ++i) {
    auto session = RemoteSession::Connect(g, (*server)->target());
    ASSERT_TRUE(session.ok()) << session.status();
    auto run = (*session)->StartPartialRun({"x"}, {y});
    ASSERT_TRUE(run.ok()) << run.status();
    const NamedFeed feed{"x", Tensor::Scalar(1)};
    ASSERT_TRUE((*run)->Run({&feed, 1}, {y}).ok());
  }
  EXPECT_THAT(sessions, ElementsAre(1, 2));
  ClearHooks();
}

}  // namespace
}  // namespace sluice
