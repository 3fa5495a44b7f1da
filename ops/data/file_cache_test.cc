#include "ops/data/file_cache.h"

#include <array>
#include <atomic>
#include <thread>

#include "executor/files/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/checkpoint/bundle.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

DatasetPointer Numbers(int count) {
  std::vector<Tensors> elements;
  for (int i = 0; i < count; ++i) elements.push_back({Tensor::Scalar<int32_t>(i)});
  return DatasetOf({}, std::move(elements));
}

// Reads elements up to the end or the first error. Returns their texts, and the text of the error
// last.
std::vector<std::string> ReadAll(const Dataset& dataset) {
  std::vector<std::string> read;
  Reading reading;
  const auto iterator = dataset.Iterate(reading);
  Tensors element;
  while (iterator.ok()) {
    const absl::StatusOr<bool> any = (*iterator)->Next(&element);
    if (!any.ok()) read.push_back(std::string(any.status().message()));
    if (!any.ok() || !*any) return read;
    read.push_back(std::to_string(element[0].scalar<int32_t>()));
  }
  return {std::string(iterator.status().message())};
}

std::string Prefix(const std::string& name) { return ::testing::TempDir() + "/" + name; }

TEST(FileCache, LaterReadingsReadTheFile) {
  const std::string prefix = Prefix("written");
  EXPECT_THAT(ReadAll(*CachedInFile(Numbers(3), prefix, 1)), ElementsAre("0", "1", "2"));
  EXPECT_THAT((*BundleReader::Open(prefix))->names(),
              ElementsAre("      0_0", "      1_0", "      2_0"));  // TensorFlow's keys
  EXPECT_FALSE(FileExists(prefix + "_0.lockfile"));
  EXPECT_THAT(ReadAll(*CachedInFile(Numbers(9), prefix, 1)), ElementsAre("0", "1", "2"));
}

TEST(FileCache, AnInterruptedReadingLeavesNoFile) {
  const std::string prefix = Prefix("interrupted");
  {
    Reading reading;
    const DatasetPointer cached = CachedInFile(Numbers(3), prefix, 1);
    const auto iterator = cached->Iterate(reading);
    Tensors element;
    ASSERT_TRUE((*iterator)->Next(&element).ok());
    EXPECT_TRUE(FileExists(prefix + "_0.lockfile"));
  }
  EXPECT_THAT(*MatchFiles(EscapePattern(prefix) + "*"), ElementsAre());
}

TEST(FileCache, OneReadingWritesAtATime) {
  const std::string prefix = Prefix("locked");
  ASSERT_TRUE(WriteFileAtomically(prefix + "_0.lockfile", "by a test").ok());
  EXPECT_THAT(ReadAll(*CachedInFile(Numbers(3), prefix, 1)),
              ElementsAre(HasSubstr("There appears to be a concurrent caching iterator running")));
  EXPECT_TRUE(FileExists(prefix + "_0.lockfile"));
}

TEST(FileCache, OfReadingsThatBeginTogetherOneWrites) {
  for (int round = 0; round < 50; ++round) {
    const std::string prefix = Prefix("together" + std::to_string(round));
    const DatasetPointer cached = CachedInFile(Numbers(3), prefix, 1);
    std::array<Reading, 4> readings;
    std::vector<IteratorPointer> iterators;
    for (Reading& reading : readings) iterators.push_back(*cached->Iterate(reading));
    std::atomic<int> began = 0, refused = 0;
    std::vector<std::thread> threads;
    for (const IteratorPointer& iterator : iterators) {
      threads.emplace_back([&] {
        Tensors element;
        const absl::Status status = iterator->Next(&element).status();
        if (status.ok()) ++began;
        if (absl::IsAlreadyExists(status)) ++refused;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(began, 1);
    EXPECT_EQ(refused, 3);
  }
}

}  // namespace
}  // namespace sluice
