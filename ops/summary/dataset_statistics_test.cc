// Tests measurements that differ from run to run, and events.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "executor/session/session.h"
#include "graph/format/proto/summary.pb.h"
#include "graph/status.h"
#include "ops/array/builders.h"
#include "ops/data/builders.h"
#include "ops/sugar.h"
#include "ops/summary/builders.h"
#include "ops/summary/events_of.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

const std::vector<DataType> kTypes = {DT_INT64};
const std::vector<PartialShape> kShapes = {PartialShape::Scalar()};

Output Text(Graph& g, const std::string& text) { return Constant(g, Tensor::Scalar(text)); }

class DatasetStatisticsTest : public ::testing::Test {
 protected:
  Output Number(int64_t n) { return Constant(graph_, Tensor::Scalar<int64_t>(n)); }
  // An iterator over `dataset`, which reports to `aggregator`. Sets `make` and `next`.
  void IterateOver(Output dataset, Output aggregator) {
    const Output all = SetStatsAggregatorDataset(dataset, aggregator, Text(graph_, "read"),
                                                 Text(graph_, ""), kTypes, kShapes);
    const Output iterator = IteratorV2(graph_, "", "", kTypes, kShapes);
    make_ = MakeIterator(all, iterator);
    next_ = IteratorGetNext(iterator, kTypes, kShapes)[0];
  }

  Graph graph_;
  Operation make_;
  Output next_;
};

TEST_F(DatasetStatisticsTest, LatencyCountsEveryElementAlsoOnAnotherThread) {
  const Output numbers = RangeDataset(Number(0), Number(5), Number(1), kTypes, kShapes);
  const Output timed = LatencyStatsDataset(numbers, Text(graph_, "time"), kTypes, kShapes);
  const Output aggregator = StatsAggregatorHandle(graph_);
  IterateOver(PrefetchDataset(timed, Number(2), kTypes, kShapes), aggregator);
  const Output summary = StatsAggregatorSummary(aggregator);
  Session session(graph_);
  ASSERT_TRUE(session.Run({make_}).ok());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(session.Run({}, {next_}).ok());
  EXPECT_TRUE(absl::IsOutOfRange(session.Run({}, {next_}).status()));
  const absl::StatusOr<Tensors> fetched = session.Run({}, {summary});
  ASSERT_TRUE(fetched.ok()) << fetched.status();
  pb::Summary read;
  ASSERT_TRUE(read.ParseFromString((*fetched)[0].scalar<std::string>()));
  ASSERT_EQ(read.value_size(), 1);
  EXPECT_EQ(read.value(0).tag(), "read::time");
  EXPECT_EQ(read.value(0).histo().num(), 5);
  EXPECT_GE(read.value(0).histo().min(), 0);
}

TEST_F(DatasetStatisticsTest, WritesAnEventPerElementOnceThereIsAWriter) {
  const std::string folder = ::testing::TempDir() + "/statistics";
  const Output numbers = RangeDataset(Number(0), Number(4), Number(1), kTypes, kShapes);
  const Output sized = BytesProducedStatsDataset(numbers, Text(graph_, "bytes"), kTypes, kShapes);
  const Output aggregator = StatsAggregatorHandleV2(graph_);
  IterateOver(sized, aggregator);
  const Output writer = SummaryWriter(graph_);
  const Operation open = CreateSummaryFileWriter(
      writer, Text(graph_, folder), Constant(graph_, Tensor::Scalar<int32_t>(10)),
      Constant(graph_, Tensor::Scalar<int32_t>(100'000)), Text(graph_, ".statistics"));
  const Operation set = StatsAggregatorSetSummaryWriter(aggregator, writer);
  const Operation flush = FlushSummaryWriter(writer);
  Session session(graph_);
  ASSERT_TRUE(session.Run({open}).ok());
  ASSERT_TRUE(session.Run({make_}).ok());
  ASSERT_TRUE(session.Run({}, {next_}).ok());
  ASSERT_TRUE(session.Run({set}).ok());
  for (int i = 1; i < 4; ++i) ASSERT_TRUE(session.Run({}, {next_}).ok());
  ASSERT_TRUE(session.Run({flush}).ok());
  std::vector<std::pair<int64_t, double>> events;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    for (const pb::Event& event : EventsOf(file.path())) {
      for (const auto& value : event.summary().value()) {
        EXPECT_EQ(value.tag(), "read::bytes");
        events.emplace_back(event.step(), value.histo().num());
      }
    }
  }
  EXPECT_THAT(events, ElementsAre(Pair(1, 2), Pair(2, 3), Pair(3, 4)));
}

}  // namespace
}  // namespace sluice
