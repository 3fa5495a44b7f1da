#include "ops/io/record_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

namespace sluice {
namespace {

using ::testing::HasSubstr;

std::string Framed(std::string_view record) {
  const RecordFrame frame(record);
  return std::string(frame.header()) + std::string(record) + std::string(frame.footer());
}

std::string Deflated(const std::string& bytes, int window_bits) {
  z_stream stream = {};
  deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST(RecordFileTest, RecordsComeOutAsTheyWentIn) {
  const std::string big(300000, 'x');
  RecordReader reader(BytesOf(Framed("one") + Framed("") + Framed(big)));
  EXPECT_EQ(*reader.Next(), "one");
  EXPECT_EQ(reader.offset(), 19);
  EXPECT_EQ(*reader.Next(), "");
  EXPECT_EQ(*reader.Next(), big);
  EXPECT_TRUE(absl::IsOutOfRange(reader.Next().status()));
}

// Compares with the bytes that TensorFlow 2.21 writes for the record "abc".
TEST(RecordFileTest, FramesAreTensorFlows) {
  EXPECT_EQ(Framed("abc").size(), 19u);
  EXPECT_EQ(Framed("abc").substr(0, 8), std::string("\x03\0\0\0\0\0\0\0", 8));
}

TEST(RecordFileTest, EveryTruncationIsDataLossAndNamesTheOffset) {
  const std::string file = Framed("first") + Framed("second");
  for (size_t size = 0; size < file.size(); ++size) {
    RecordReader reader(BytesOf(file.substr(0, size)));
    absl::Status status;
    int records = 0;
    while ((status = reader.Next().status()).ok()) ++records;
    EXPECT_EQ(records, size >= 21 ? 1 : 0);
    if (size == 0 || size == 21) {
      EXPECT_TRUE(absl::IsOutOfRange(status)) << size;
    } else {
      EXPECT_TRUE(absl::IsDataLoss(status)) << size;
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr(size < 21 ? "truncated record at 0" : "truncated record at 21"));
    }
  }
}

TEST(RecordFileTest, EveryFlippedBitIsDataLoss) {
  const std::string file = Framed("some bytes");
  for (size_t bit = 0; bit < file.size() * 8; ++bit) {
    std::string broken = file;
    broken[bit / 8] = static_cast<char>(broken[bit / 8] ^ (1 << (bit % 8)));
    RecordReader reader(BytesOf(broken));
    EXPECT_TRUE(absl::IsDataLoss(reader.Next().status())) << bit;
  }
}

TEST(RecordFileTest, CompressedStreamsAreUnpackedAndMayHaveSeveralMembers) {
  const std::string records = Framed("one") + Framed(std::string(1 << 20, 'y'));
  RecordReader zlib(Unpack(BytesOf(Deflated(records, 15)), StreamCompression::kZlib));
  EXPECT_EQ(*zlib.Next(), "one");
  EXPECT_EQ(zlib.Next()->size(), size_t{1} << 20);
  const std::string two = Deflated(Framed("one"), 15 + 16) + Deflated(Framed("two"), 15 + 16);
  RecordReader gzip(Unpack(BytesOf(two), StreamCompression::kGzip));
  EXPECT_EQ(*gzip.Next(), "one");
  EXPECT_EQ(*gzip.Next(), "two");
  EXPECT_TRUE(absl::IsOutOfRange(gzip.Next().status()));
}

TEST(RecordFileTest, ABrokenStreamIsDataLoss) {
  const std::string packed = Deflated(Framed("one"), 15);
  RecordReader cut(Unpack(BytesOf(packed.substr(0, packed.size() - 5)), StreamCompression::kZlib));
  absl::Status status = cut.Next().status();
  if (status.ok()) status = cut.Next().status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  RecordReader other(Unpack(BytesOf("this is no stream"), StreamCompression::kGzip));
  EXPECT_TRUE(absl::IsDataLoss(other.Next().status()));
}

TEST(ByteSourceTest, LinesEndAtNewlinesAndLoseCarriageReturns) {
  const std::unique_ptr<ByteSource> source = BytesOf("a\r\n\nlast");
  std::string line;
  EXPECT_TRUE(*source->ReadLine(&line));
  EXPECT_EQ(line, "a");
  EXPECT_TRUE(*source->ReadLine(&line));
  EXPECT_EQ(line, "");
  EXPECT_TRUE(*source->ReadLine(&line));
  EXPECT_EQ(line, "last");
  EXPECT_FALSE(*source->ReadLine(&line));
}

TEST(ByteSourceTest, AMissingFileIsNamed) {
  const absl::Status status = OpenFile("/no/such/file").status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_EQ(status.message(), "/no/such/file; No such file or directory");
  EXPECT_EQ(OpenFile("/").status(), absl::FailedPreconditionError("/; Is a directory"));
}

// An invalid length must not cause a large allocation.
TEST(RecordFileTest, AHugeLengthAllocatesNothing) {
  std::string frame = Framed("x");
  RecordFrame giant("");
  std::string header(12, '\xff');
  RecordReader reader(BytesOf(header + frame));
  EXPECT_TRUE(absl::IsDataLoss(reader.Next().status()));
}

}  // namespace
}  // namespace sluice
