// Tests credentials and tokens. server/security_test.cc tests servers that use them.
#include "distributed/security/security.h"

#include <sys/stat.h>

#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

TEST(Security, TheDefaultUsesNoTls) {
  EXPECT_FALSE(Security().uses_tls());
  EXPECT_TRUE(ServerCredentials({}).ok());
  EXPECT_TRUE(ChannelCredentials({}).ok());
  EXPECT_TRUE(Security{.ca_file = "ca.pem"}.uses_tls());
}

TEST(Security, ACertificateNeedsItsKey) {
  const absl::Status only_key =
      absl::InvalidArgumentError("TLS: a certificate and its key come together, got only a key");
  const Security security = {.ca_file = "ca.pem", .key_file = "task.key"};
  EXPECT_EQ(ServerCredentials(security).status(), only_key);
  EXPECT_EQ(ChannelCredentials(security).status(), only_key);
}

TEST(Security, AServerNeedsACertificate) {
  EXPECT_EQ(ServerCredentials({.ca_file = "/no/ca.pem"}).status(),
            absl::InvalidArgumentError("TLS: a server needs a certificate and its key"));
  EXPECT_EQ(ChannelCredentials({.ca_file = "/no/ca.pem"}).status(),
            absl::NotFoundError("TLS: cannot read '/no/ca.pem'"));
}

std::string TokenFile(const std::string& contents, mode_t mode = 0600) {
  const std::string path = ::testing::TempDir() + "/token";
  std::ofstream(path) << contents;
  EXPECT_EQ(chmod(path.c_str(), mode), 0);
  return path;
}

// The token ended at its first blank, so "open sesame" was as good as "open barley".
TEST(ReadToken, TheTokenIsTheWholeFirstLine) {
  EXPECT_EQ(ReadToken(TokenFile("open sesame\n")).value(), "open sesame");
  EXPECT_EQ(ReadToken(TokenFile("open sesame\r\nsecond line\n")).value(), "open sesame");
  EXPECT_EQ(ReadToken(TokenFile("word", 0640)).value(), "word");
}

TEST(ReadToken, AFileThatEveryUserMayUseIsRejected) {
  for (const mode_t mode : {0604, 0602, 0644, 0777}) {
    const absl::Status status = ReadToken(TokenFile("word\n", mode)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
    EXPECT_THAT(status.ToString(), HasSubstr("is open to every user of this machine"));
  }
}

TEST(ReadToken, ALineThatNoCallCanCarryIsRejected) {
  for (const char* line : {"", "\nword", " word", "word ", "w\tord", "w\xc3\xb6rt"}) {
    EXPECT_EQ(ReadToken(TokenFile(line)).status().code(), absl::StatusCode::kInvalidArgument)
        << line;
  }
  EXPECT_EQ(ReadToken("/no/token").status(),
            absl::NotFoundError("token file '/no/token' cannot be read"));
}

TEST(IsToken, ComparesWholeTokens) {
  EXPECT_TRUE(IsToken("open sesame", "open sesame"));
  EXPECT_FALSE(IsToken("open sesamf", "open sesame"));
  EXPECT_FALSE(IsToken("open", "open sesame"));
  EXPECT_FALSE(IsToken("", "open sesame"));
}

}  // namespace
}  // namespace sluice
