#include "distributed/events/audit_log.h"

#include <sys/stat.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "distributed/events/sha256.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

std::vector<std::string> LinesOf(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(AuditLog, WritesALinePerEventAndFollowsARenamedFile) {
  const std::string path = ::testing::TempDir() + "/audit.jsonl";
  EXPECT_FALSE(IsAudited());
  Audit("file", {{"path", "/before"}});
  ASSERT_TRUE(OpenAuditLog(path).ok());
  EXPECT_TRUE(IsAudited());
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  Audit("file", {{"session", "3"}, {"path", "/a \"b\"\n"}});
  const std::vector<std::string> lines = LinesOf(path);
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_THAT(lines[0], StartsWith("{\"time\": \"20"));
  EXPECT_THAT(lines[0], EndsWith("\"event\": \"file\", \"session\": \"3\", \"path\": \"/a "
                                 "\\\"b\\\"\\n\"}"));

  const std::string rotated = path + ".1";
  ASSERT_EQ(std::rename(path.c_str(), rotated.c_str()), 0);
  Audit("second", {});
  ASSERT_TRUE(ReopenAuditLog().ok());
  Audit("third", {});
  EXPECT_THAT(LinesOf(rotated), ElementsAre(lines[0], HasSubstr("second")));
  EXPECT_THAT(LinesOf(path), ElementsAre(HasSubstr("third")));

  const absl::Status failed = OpenAuditLog("/no/such/folder/audit");
  EXPECT_TRUE(absl::IsUnavailable(failed));
  EXPECT_THAT(failed.message(), HasSubstr("'/no/such/folder/audit' cannot be opened: No such"));
  Audit("fourth", {});  // in the former file
  EXPECT_THAT(LinesOf(path), SizeIs(2));
}

// In contrast, the event log leaves out some of many events.
TEST(AuditLog, LeavesNoLineOutAndMixesNone) {
  const std::string path = ::testing::TempDir() + "/audit_many.jsonl";
  ASSERT_TRUE(OpenAuditLog(path).ok());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 1000; ++i) Audit("file", {{"path", std::string(100, 'x')}});
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<std::string> lines = LinesOf(path);
  EXPECT_THAT(lines, SizeIs(4000));
  for (const std::string& line : lines) {
    ASSERT_THAT(line, StartsWith("{\"time\""));
    ASSERT_THAT(line, EndsWith("xxx\"}"));
    ASSERT_EQ(line.size(), lines[0].size());
  }
}

// Values of FIPS 180-4's examples.
TEST(Sha256, IsTheStandardsDigest) {
  EXPECT_EQ(Sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

}  // namespace
}  // namespace sluice
