#include "graph/format/checksum.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice {
namespace {

// Vectors of RFC 3720, B.4.
TEST(ChecksumTest, IsTheCrcOfIscsi) {
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(Crc32c(""), 0u);
}

TEST(ChecksumTest, PartsGiveTheChecksumOfTheWhole) {
  const std::string text = "the whole is what its parts are, one behind the other";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(ExtendCrc32c(Crc32c(text.substr(0, cut)), text.substr(cut)), Crc32c(text)) << cut;
  }
}

TEST(ChecksumTest, MaskingTurnsBack) {
  for (uint32_t crc : {0u, 1u, 0xe3069283u, 0xffffffffu}) {
    EXPECT_NE(MaskCrc(crc), crc);
    EXPECT_EQ(UnmaskCrc(MaskCrc(crc)), crc);
  }
}

}  // namespace
}  // namespace sluice
