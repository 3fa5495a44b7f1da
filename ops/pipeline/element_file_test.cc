// Files of elements: reading must return what was written, or DATA_LOSS if the file is damaged.
#include "ops/pipeline/element_file.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "executor/files/files.h"
#include "graph/tensor/tensor.h"

namespace sluice {
namespace {

const std::vector<DataType> kTypes = {DT_FLOAT, DT_STRING, DT_INT64};

std::string PathOf(const std::string& name) { return JoinPath(std::getenv("TEST_TMPDIR"), name); }

Tensors Element(int64_t i) {
  Tensor numbers(DT_FLOAT, {i, 2});
  for (int64_t k = 0; k < 2 * i; ++k) numbers.data<float>()[k] = static_cast<float>(k) / 2;
  return {numbers, Tensor::Vector<std::string>({"", std::string(static_cast<size_t>(i), 'x')}),
          Tensor::Scalar<int64_t>(i)};
}

struct Case {
  int64_t version;
  FileCompression compression;
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (int64_t version : {1, 2}) {
    for (auto c : {FileCompression::kNone, FileCompression::kGzip, FileCompression::kSnappy}) {
      cases.push_back({version, c});
    }
  }
  cases.push_back({2, FileCompression::kZlib});
  return cases;
}

ElementFormat FormatOf(const Case& c) {
  return {.version = c.version, .compression = c.compression};
}

void WriteElements(const std::string& path, const Case& c, int64_t count) {
  auto writer = ElementWriter::Create(path, FormatOf(c));
  ASSERT_TRUE(writer.ok()) << writer.status();
  for (int64_t i = 0; i < count; ++i) ASSERT_TRUE((*writer)->Write(Element(i)).ok());
  ASSERT_TRUE((*writer)->Close().ok());
}

// Counts the elements, and checks that WriteElements wrote them.
absl::StatusOr<int64_t> CountElements(const std::string& path, const Case& c) {
  auto reader = ElementReader::Open(path, FormatOf(c), kTypes);
  if (!reader.ok()) return reader.status();
  for (int64_t i = 0;; ++i) {
    Tensors element;
    const absl::StatusOr<bool> any = (*reader)->Next(&element);
    if (!any.ok()) return any.status();
    if (!*any) return i;
    const Tensors expected = Element(i);
    EXPECT_EQ(element.size(), expected.size());
    for (size_t k = 0; k < expected.size() && k < element.size(); ++k) {
      EXPECT_EQ(element[k].ToString(-1), expected[k].ToString(-1));
    }
  }
}

TEST(ElementFileTest, ReadsWhatWasWritten) {
  for (const Case& c : Cases()) {
    for (int64_t count : {0, 1, 200}) {
      const std::string path = PathOf("elements");
      WriteElements(path, c, count);
      const absl::StatusOr<int64_t> read = CountElements(path, c);
      ASSERT_TRUE(read.ok()) << read.status() << " version " << c.version;
      EXPECT_EQ(*read, count);
    }
  }
}

TEST(ElementFileTest, EveryByteBecomesAValidBool) {
  const Tensor bytes = Tensor::Vector<uint8_t>({0, 1, 2});
  for (const Case& c : Cases()) {
    const std::string path = PathOf("bools");
    auto writer = ElementWriter::Create(path, FormatOf(c));
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_TRUE((*writer)->Write({bytes.Bitcast(DT_BOOL)}).ok());
    ASSERT_TRUE((*writer)->Close().ok());
    auto reader = ElementReader::Open(path, FormatOf(c), {DT_BOOL});
    ASSERT_TRUE(reader.ok()) << reader.status();
    Tensors element;
    ASSERT_TRUE((*reader)->Next(&element).value());
    EXPECT_EQ(element[0].Bitcast(DT_UINT8).SummarizeValues(3), "0 1 1");
  }
}

// If a file is cut off anywhere, its reader must not end the process or return a wrong element.
TEST(ElementFileTest, ACutOffFileIsDataLossOrHasFewerElements) {
  for (const Case& c : Cases()) {
    const std::string path = PathOf("whole"), cut = PathOf("cut");
    WriteElements(path, c, 3);
    const std::string bytes = *ReadWholeFile(path);
    for (size_t size = 0; size < bytes.size(); ++size) {
      ASSERT_TRUE(WriteFileAtomically(cut, bytes.substr(0, size)).ok());
      const absl::StatusOr<int64_t> read = CountElements(cut, c);
      if (read.ok()) {
        EXPECT_LT(*read, 3);
      } else {
        EXPECT_EQ(read.status().code(), absl::StatusCode::kDataLoss) << read.status();
      }
    }
  }
}

TEST(ElementFileTest, AnyByteMayBeWrong) {
  for (const Case& c : Cases()) {
    const std::string path = PathOf("right"), wrong = PathOf("wrong");
    WriteElements(path, c, 2);
    const std::string bytes = *ReadWholeFile(path);
    for (size_t i = 0; i < bytes.size(); ++i) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ 0xff);
      ASSERT_TRUE(WriteFileAtomically(wrong, changed).ok());
      auto reader = ElementReader::Open(wrong, FormatOf(c), kTypes);
      Tensors element;
      for (bool any = reader.ok(); any;) {
        any = (*reader)->Next(&element).value_or(false);
      }
    }
  }
}

TEST(ElementFileTest, OtherVersionsAreRejected) {
  EXPECT_EQ(ElementWriter::Create(PathOf("new"), {.version = 3}).status().message(),
            "Snapshot writer version: 3 is not supported.");
  EXPECT_EQ(ElementReader::Open(PathOf("new"), {.version = 7}, kTypes).status().message(),
            "Snapshot reader version: 7 is not supported.");
}

TEST(ElementFileTest, LargeElementsAreInBlocksThatTensorFlowReads) {
  const std::string path = PathOf("large");
  const size_t size = (size_t{256} << 10) + 10;
  auto sink = CreateSink(path, FileCompression::kSnappy);
  ASSERT_TRUE(sink.ok());
  ASSERT_TRUE((*sink)->Append(std::string(size, 'a')).ok());
  ASSERT_TRUE((*sink)->Close().ok());
  auto source = OpenSource(path, FileCompression::kSnappy);
  ASSERT_TRUE(source.ok());
  std::string all;
  ASSERT_TRUE((*source)->ReadAll(&all).ok());
  EXPECT_EQ(all, std::string(size, 'a'));
}

}  // namespace
}  // namespace sluice
