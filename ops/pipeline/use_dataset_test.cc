// Tests cases without results of TensorFlow to compare with. TensorFlow ends the process if
// elements do not fit the table, and rejects the handles of caches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/session/session.h"
#include "graph/status.h"
#include "ops/data/builders.h"
#include "ops/lookup/builders.h"
#include "ops/pipeline/use_dataset_builders.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

// Returns the error of filling a table from strings to numbers with one element, which has these
// components.
absl::Status FillWith(const std::vector<Tensor>& components) {
  Graph graph;
  std::vector<PartialShape> shapes;
  OutputList constants;
  for (const Tensor& t : components) {
    shapes.emplace_back(t.shape());
    constants.push_back(Constant(graph, t));
  }
  const Output table = HashTableV2(graph, DT_STRING, DT_INT64);
  const Operation fill = InitializeTableFromDataset(table, TensorDataset(constants, shapes));
  return Session(graph).Run({fill});
}

TEST(UseDatasetTest, ElementsThatAreNoPairsOfTheTableAreRejected) {
  const Tensor key = Tensor::Scalar<std::string>("a"), value = Tensor::Scalar<int64_t>(1);
  EXPECT_TRUE(FillWith({key, value}).ok());
  const std::vector<std::pair<std::vector<Tensor>, std::string>> cases = {
      {{key}, "Dataset should have two output types only, got 1"},
      {{value, value}, "Key type expected: string but got: int64"},
      {{key, key}, "Value type expected: int64 but got: string"},
      {{Tensor::Vector<std::string>({"a"}), Tensor::Vector<int64_t>({1})},
       "Keys and values must be scalars, but received shape [1]"}};
  for (const auto& [components, text] : cases) {
    const absl::Status status = FillWith(components);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
  }
}

TEST(UseDatasetTest, ADeletedCacheStaysWithTheDatasetThatUsesIt) {
  Graph graph;
  const auto number = [&](int64_t n) { return Constant(graph, Tensor::Scalar<int64_t>(n)); };
  const std::vector<DataType> types = {DT_INT64};
  const std::vector<PartialShape> shapes = {PartialShape::Scalar()};
  const auto [op, cache, deleter] = AnonymousMemoryCache(graph);
  const Output numbers = RangeDataset(number(7), number(8), number(1), types, shapes);
  const Output cached = CacheDatasetV2(numbers, Constant(graph, Tensor::Scalar<std::string>("")),
                                       cache, types, shapes);
  const OutputList element = DatasetToSingleElement(cached, types, shapes);
  const Operation remove = DeleteMemoryCache(cache, deleter);
  const absl::StatusOr<Tensors> fetched = Session(graph).Run({}, {element[0]}, {remove});
  ASSERT_TRUE(fetched.ok()) << fetched.status();
  EXPECT_EQ((*fetched)[0].scalar<int64_t>(), 7);
}

// Reads a dataset whose first or second element never comes.
absl::Status ReadWithTimeout(Graph& graph, Output dataset, DataType type) {
  const OutputList element = DatasetToSingleElement(dataset, {type}, {PartialShape::UnknownRank()});
  if (!graph.status().ok()) return graph.status();
  RunOptions options;
  options.timeout_ms = 50;
  Session session(graph);
  return session.Run({}, {element[0]}, {}, options).status();
}

TEST(UseDatasetTest, ReadingsThatNeverEndCanBeCancelled) {
  const std::vector<PartialShape> shapes = {PartialShape::UnknownRank()};
  {
    Graph graph;
    const Output files = MatchingFilesDataset(
        Constant(graph, Tensor::Scalar<std::string>("/a/folder/that/is/missing/*")));
    const absl::Status status =
        ReadWithTimeout(graph, IgnoreErrorsDataset(files, {DT_STRING}, shapes), DT_STRING);
    EXPECT_TRUE(absl::IsDeadlineExceeded(status) || absl::IsCancelled(status)) << status;
  }
  Graph graph;
  const Output rows = TensorDataset({Constant(graph, Tensor::Vector<int64_t>({1, 2}))}, shapes);
  const Output none = RebatchDatasetV2(rows, Constant(graph, Tensor::Vector<int64_t>({0})),
                                       Constant(graph, false), {DT_INT64}, shapes);
  const absl::Status status =
      ReadWithTimeout(graph, UniqueDataset(none, {DT_INT64}, shapes), DT_INT64);
  EXPECT_TRUE(absl::IsDeadlineExceeded(status) || absl::IsCancelled(status)) << status;
}

}  // namespace
}  // namespace sluice
