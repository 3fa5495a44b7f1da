// Lookups in tables with parts must give the rows of a table without parts, and gradients must
// reach the parts.
#include "ops/embedding/embedding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/session/session.h"
#include "graph/gradient/gradients.h"
#include "ops/array/builders.h"
#include "ops/embedding/builders.h"
#include "ops/embedding/partitioner.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

// Makes a table in parts. Its row i is (i, 10 i).
std::vector<Variable> Table(Graph& g, int rows, int parts, PartitionStrategy strategy) {
  std::vector<std::vector<float>> of(static_cast<size_t>(parts));
  for (int id = 0, part = 0, left = 0; id < rows; ++id) {
    if (strategy == PartitionStrategy::kMod) {
      part = id % parts;
    } else if (left == 0) {
      if (id > 0) ++part;
      left = rows / parts + (part < rows % parts ? 1 : 0);
    }
    --left;
    of[static_cast<size_t>(part)].push_back(static_cast<float>(id));
    of[static_cast<size_t>(part)].push_back(static_cast<float>(10 * id));
  }
  std::vector<Variable> made;
  for (const std::vector<float>& values : of) {
    Tensor t(DT_FLOAT, {static_cast<int64_t>(values.size()) / 2, 2});
    std::copy(values.begin(), values.end(), t.data<float>());
    made.emplace_back(g, "part", t);
  }
  return made;
}

std::string Values(Graph& g, const OutputList& fetches) {
  Session session(g);
  absl::Status status = session.Run({InitializeVariables(g)});
  if (!status.ok()) return status.ToString();
  absl::StatusOr<Tensors> out = session.Run({}, fetches);
  if (!out.ok()) return out.status().ToString();
  std::string text;
  for (const Tensor& t : *out) {
    text += t.shape().ToString() + " " + t.SummarizeValues(-1) + ";";
  }
  return text;
}

TEST(Embedding, EveryPartitionGivesTheSameRows) {
  for (const int parts : {1, 2, 3, 7}) {
    for (const auto strategy : {PartitionStrategy::kMod, PartitionStrategy::kDiv}) {
      Graph g;
      Output rows = EmbeddingLookup(Table(g, 7, parts, strategy),
                                    Constant(g, {{6, 0, 3}, {3, 5, 1}}), {.strategy = strategy});
      EXPECT_EQ(Values(g, {rows}), "[2,3,2] 6 60 0 0 3 30 3 30 5 50 1 10;") << parts;
    }
  }
}

TEST(Embedding, APartitionedVariableIsLookedUpByDiv) {
  Graph g;
  PartitionedVariable table(g, "table", {5, 2}, Ones(), {2});
  Output rows = EmbeddingLookup(table, Constant(g, {int64_t{4}, int64_t{0}}),
                                {.strategy = PartitionStrategy::kDiv});
  EXPECT_EQ(Values(g, {rows}), "[2,2] 1 1 1 1;");
}

TEST(Embedding, RowsLongerThanTheNormAreMadeShorter) {
  Graph g;
  std::vector<Variable> table = {
      Variable(g, "t", Tensor::Of<float>({3, 2}, {0, 0, 3, 4, 0.6f, 0}))};
  Output rows = EmbeddingLookup(table, Constant(g, {0, 1, 2}), {.max_norm = 1.0f});
  EXPECT_EQ(Values(g, {rows}), "[3,2] 0 0 0.6 0.8 0.6 0;");
}

TEST(Embedding, GradientsAreTheRowsThatWereRead) {
  Graph g;
  std::vector<Variable> table = Table(g, 5, 2, PartitionStrategy::kMod);
  Output rows = EmbeddingLookup(table, Constant(g, {4, 1, 4}));
  absl::StatusOr<std::vector<Grad>> grads =
      Gradients({ReduceSum(rows * rows)}, {table[0].handle(), table[1].handle()});
  ASSERT_TRUE(grads.ok()) << grads.status();
  ASSERT_TRUE((*grads)[0].is_slices() && (*grads)[1].is_slices());
  const IndexedSlices& first = (*grads)[0].slices();
  EXPECT_EQ(Values(g, {first.indices, first.values}), "[2] 2 2;[2,2] 8 80 8 80;");
}

SparseOutput Sparse(Graph& g, const Tensor& indices, Output values, int64_t rows, int64_t columns) {
  return {Constant(g, indices), values, Constant(g, {rows, columns})};
}

TEST(Embedding, RowsOfAnExampleAreCombined) {
  const Tensor indices = Tensor::Of<int64_t>({4, 2}, {0, 0, 0, 1, 2, 0, 2, 3});
  auto combined = [&](Combiner combiner, bool weighted) {
    Graph g;
    SparseOutput ids = Sparse(g, indices, Constant(g, {1, 3, 3, 2}), 3, 4);
    std::optional<SparseOutput> weights;
    if (weighted) weights = Sparse(g, indices, Constant(g, {1.0f, 3.0f, 2.0f, 0.0f}), 3, 4);
    return Values(g, {EmbeddingLookupSparse(Table(g, 5, 2, PartitionStrategy::kMod), ids, weights,
                                            {.combiner = combiner})});
  };
  EXPECT_EQ(combined(Combiner::kSum, false), "[3,2] 4 40 0 0 5 50;");
  EXPECT_EQ(combined(Combiner::kMean, false), "[3,2] 2 20 0 0 2.5 25;");
  EXPECT_EQ(combined(Combiner::kSum, true), "[3,2] 10 100 0 0 6 60;");
  EXPECT_EQ(combined(Combiner::kMean, true), "[3,2] 2.5 25 0 0 3 30;");
  EXPECT_EQ(combined(Combiner::kSqrtN, true), "[3,2] 3.16228 31.6228 0 0 3 30;");
}

TEST(Embedding, InvalidIdsAreLeftOutAndEmptyRowsFilled) {
  const Tensor indices = Tensor::Of<int64_t>({4, 2}, {0, 0, 0, 1, 1, 0, 2, 3});
  auto safe = [&](std::optional<int64_t> default_id) {
    Graph g;
    SparseOutput ids = Sparse(g, indices, Constant(g, {1, -1, -7, 2}), 4, 4);
    return Values(g, {SafeEmbeddingLookupSparse(Table(g, 5, 2, PartitionStrategy::kDiv), ids,
                                                std::nullopt, {.default_id = default_id})});
  };
  EXPECT_EQ(safe(std::nullopt), "[4,2] 1 10 0 0 2 20 0 0;");
  EXPECT_EQ(safe(4), "[4,2] 1 10 4 40 2 20 4 40;");
}

TEST(Embedding, ATableOfNoVariableIsRefusedWithTheLine) {
  Graph g;
  EXPECT_FALSE(EmbeddingLookup(std::vector<Variable>{}, Constant(g, {1})));
  EXPECT_THAT(std::string(g.status().message()), HasSubstr("expected a table, got no variable"));
  EXPECT_THAT(std::string(g.status().message()), HasSubstr("embedding_test.cc"));
}

TEST(CandidateSamplers, ARangeBeyondInt32IsRefused) {
  constexpr int64_t kRange = int64_t{1} << 31;
  Graph g;
  const Output classes = Constant(g, Tensor::Of<int64_t>({1, 1}, {0}));
  const Output learned =
      LearnedUnigramCandidateSampler(classes, 1, 2, false, kRange).sampled_candidates;
  const Output fixed =
      FixedUnigramCandidateSampler(classes, 1, 2, false, kRange,
                                   {.num_reserved_ids = kRange - 1, .unigrams = {1.0f}})
          .sampled_candidates;
  for (const Output& samples : {learned, fixed}) {
    EXPECT_THAT(std::string(Session(g).Run({}, {samples}, {}).status().message()),
                HasSubstr("range_max must be less than 2147483647 for unigram samplers"));
  }
}

TEST(Partitioner, AnOptionOfZeroOrWithoutBoundIsNoLimit) {
  using ::testing::ElementsAre;
  const TensorShape shape({100, 3});
  EXPECT_THAT(MinMaxPartitions(shape, DT_FLOAT, 4, {.min_slice_size = 0}), ElementsAre(4, 1));
  EXPECT_THAT(MinMaxPartitions(shape, DT_FLOAT, 400, {.min_slice_size = 0}), ElementsAre(100, 1));
  EXPECT_THAT(MinMaxPartitions(shape, DT_FLOAT, 4, {.min_slice_size = 400}), ElementsAre(3, 1));
  EXPECT_THAT(MinMaxPartitions(shape, DT_FLOAT, 4, {.min_slice_size = INT64_MAX}),
              ElementsAre(1, 1));
  // As in TensorFlow.
  EXPECT_THAT(MinMaxPartitions(shape, DT_FLOAT, 4, {.min_slice_size = -5}), ElementsAre(1, 1));
  EXPECT_THAT(MinMaxPartitions(shape, DT_FLOAT, 0), ElementsAre(1, 1));
  EXPECT_THAT(AxisSizePartitions(TensorShape({100}), DT_BOOL, INT64_MAX), ElementsAre(1));
}

}  // namespace
}  // namespace sluice
