#include "tools/commands/scalars.h"

#include "executor/files/files.h"
#include "gmock/gmock.h"
#include "graph/format/proto/event.pb.h"
#include "gtest/gtest.h"
#include "ops/io/record_file.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// A record with the event of one scalar.
std::string Record(int64_t step, float value) {
  pb::Event event;
  event.set_step(step);
  auto* scalar = event.mutable_summary()->add_value();
  scalar->set_tag("loss");
  scalar->set_simple_value(value);
  const std::string bytes = event.SerializeAsString();
  const RecordFrame frame(bytes);
  return std::string(frame.header()) + bytes + std::string(frame.footer());
}

std::string NewFolder(const std::string& name) {
  const std::string folder = JoinPath(::testing::TempDir(), name);
  EXPECT_TRUE(MakeDirectories(folder).ok());
  return folder;
}

TEST(ScalarReaderTest, ReadsAFileThatGrowsInTheMiddleOfARecord) {
  const std::string folder = NewFolder("grows");
  const std::string path = JoinPath(folder, "events.out.tfevents.1.host");
  ScalarReader reader(folder);
  EXPECT_TRUE(reader.Refresh().ok());
  EXPECT_TRUE(reader.scalars().empty());
  const std::string second = Record(2, 0.25f);
  ASSERT_TRUE(AppendToFile(path, Record(1, 0.5f) + second.substr(0, 20)).ok());
  EXPECT_TRUE(reader.Refresh().ok());
  EXPECT_THAT(reader.scalars().at("loss"), ElementsAre(Pair(1, 0.5)));
  ASSERT_TRUE(AppendToFile(path, second.substr(20)).ok());
  EXPECT_TRUE(reader.Refresh().ok());
  EXPECT_THAT(reader.scalars().at("loss"), ElementsAre(Pair(1, 0.5), Pair(2, 0.25)));
}

TEST(ScalarReaderTest, AFileThatCannotBeReadHidesNoOther) {
  const std::string folder = NewFolder("unreadable");
  EXPECT_TRUE(MakeDirectories(JoinPath(folder, "events.out.tfevents.1.folder")).ok());
  ASSERT_TRUE(AppendToFile(JoinPath(folder, "events.out.tfevents.2.host"), Record(1, 0.5f)).ok());
  ScalarReader reader(folder);
  EXPECT_FALSE(reader.Refresh().ok());
  EXPECT_THAT(reader.scalars().at("loss"), ElementsAre(Pair(1, 0.5)));
}

TEST(ScalarReaderTest, ALongCurveIsThinnedOutButKeepsItsEnds) {
  const std::string folder = NewFolder("long");
  std::string records;
  for (int i = 0; i <= 5000; ++i) records += Record(i, static_cast<float>(i));
  ASSERT_TRUE(AppendToFile(JoinPath(folder, "events.out.tfevents.1.host"), records).ok());
  ScalarReader reader(folder);
  EXPECT_TRUE(reader.Refresh().ok());
  const ScalarPoints& points = reader.scalars().at("loss");
  EXPECT_GT(points.size(), 400u);
  EXPECT_LE(points.size(), 1000u);
  EXPECT_THAT(points.front(), Pair(0, 0));
  EXPECT_THAT(points.back(), Pair(5000, 5000));
}

}  // namespace
}  // namespace sluice
