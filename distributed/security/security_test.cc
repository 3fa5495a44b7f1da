// Credentials and tokens. Servers that use them are tested in server/security_test.cc.
#include "distributed/security/security.h"

#include "gtest/gtest.h"

namespace sluice {
namespace {

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

TEST(IsToken, ComparesWholeTokens) {
  EXPECT_TRUE(IsToken("open sesame", "open sesame"));
  EXPECT_FALSE(IsToken("open sesamf", "open sesame"));
  EXPECT_FALSE(IsToken("open", "open sesame"));
  EXPECT_FALSE(IsToken("", "open sesame"));
}

}  // namespace
}  // namespace sluice
