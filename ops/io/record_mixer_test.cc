#include "ops/io/record_mixer.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

// Has files with records "<file>.<record>", in a folder of the test.
class RecordMixerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
  }
  void Write(const std::string& name, int records) {
    std::ofstream out(folder_ / name, std::ios::binary);
    for (int i = 0; i < records; ++i) {
      const std::string record = name + "." + std::to_string(i);
      const RecordFrame frame(record);
      out << frame.header() << record << frame.footer();
    }
  }
  RecordMixerOptions Options() {
    return {.file_pattern = (folder_ / "*").string(),
            .seed = 7,
            .buffer_size = 3,
            .files_at_a_time = 2};
  }
  static std::vector<std::string> Take(RecordMixer& mixer, int count) {
    std::vector<std::string> records;
    for (int i = 0; i < count; ++i) {
      absl::StatusOr<std::string> record = mixer.Next();
      EXPECT_TRUE(record.ok()) << record.status();
      if (record.ok()) records.push_back(*record);
    }
    return records;
  }
  std::filesystem::path folder_;
};

// Such a shift once exceeded the number of files.
TEST_F(RecordMixerTest, AnInfiniteShiftIsNone) {
  Write("a", 2);
  RecordMixerOptions options = Options();
  for (double shift : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    options.shift = shift;
    RecordMixer mixer(options);
    EXPECT_THAT(Take(mixer, 2), ::testing::UnorderedElementsAre("a.0", "a.1"));
  }
}

TEST_F(RecordMixerTest, AnEpochHasEveryRecordOnce) {
  Write("a", 3);
  Write("b", 0);
  Write("c", 5);
  RecordMixer mixer(Options());
  std::vector<std::string> first = Take(mixer, 8), second = Take(mixer, 8);
  EXPECT_NE(first, second);
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  EXPECT_EQ(first, second);
  EXPECT_EQ(std::unique(first.begin(), first.end()), first.end());
}

TEST_F(RecordMixerTest, TheSameSeedGivesTheSameOrder) {
  for (const char* name : {"a", "b", "c", "d"}) Write(name, 4);
  RecordMixer one(Options()), other(Options());
  EXPECT_EQ(Take(one, 40), Take(other, 40));
}

TEST_F(RecordMixerTest, FilesWithoutRecordsAreNoEndlessLoop) {
  Write("a", 0);
  RecordMixer mixer(Options());
  EXPECT_TRUE(absl::IsOutOfRange(mixer.Next().status()));
}

TEST_F(RecordMixerTest, AFileThatComesLaterIsFound) {
  RecordMixer mixer(Options());
  EXPECT_THAT(std::string(mixer.Next().status().message()), HasSubstr("Found no files at "));
  Write("a", 1);
  EXPECT_EQ(Take(mixer, 2), (std::vector<std::string>{"a.0", "a.0"}));
}

}  // namespace
}  // namespace sluice
