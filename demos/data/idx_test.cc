#include "demos/data/idx.h"

#include <zlib.h>

#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice::demos {
namespace {

using ::testing::HasSubstr;

std::string Write(const std::string& name, const std::string& bytes) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

TEST(IdxTest, PlainAndCompressedFilesGiveTheSameTensor) {
  const std::string bytes("\0\0\x08\x02\0\0\0\x02\0\0\0\x03\x01\x02\x03\x04\x05\xff", 18);
  const Tensor plain = *ReadIdx(Write("plain", bytes));
  EXPECT_EQ(plain.shape(), TensorShape({2, 3}));
  EXPECT_EQ(plain.data<uint8_t>()[5], 255);
  const std::string path = ::testing::TempDir() + "/packed.gz";
  gzFile f = gzopen(path.c_str(), "wb");
  gzwrite(f, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(f);
  EXPECT_EQ(ReadIdx(path)->ToString(), plain.ToString());
}

TEST(IdxTest, DamagedFilesAreNamed) {
  EXPECT_EQ(ReadIdx("/no/such").status().code(), absl::StatusCode::kNotFound);
  const absl::Status not_idx = ReadIdx(Write("text", "hello world")).status();
  EXPECT_THAT(not_idx.message(), HasSubstr("text' is not an IDX file of bytes"));
  const absl::Status cut =
      ReadIdx(Write("cut", std::string("\0\0\x08\x01\0\0\0\x09\x01", 9))).status();
  EXPECT_EQ(cut.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(cut.message(), HasSubstr("ends early: 8 bytes less"));
}

TEST(FashionMnistTest, MissingFilesSayHowToGetThem) {
  EXPECT_THAT(LoadFashionMnist("/no/such").status().message(),
              HasSubstr("apt install dataset-fashion-mnist"));
}

}  // namespace
}  // namespace sluice::demos
