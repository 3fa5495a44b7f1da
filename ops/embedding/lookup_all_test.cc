// Lookups of several fields in one node must give the same bits as single lookups, and so must
// their gradients. Single ops look up a table in two parts, and one node looks up a table without
// parts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "executor/session/session.h"
#include "graph/gradient/gradients.h"
#include "ops/array/builders.h"
#include "ops/embedding/builders.h"
#include "ops/embedding/embedding.h"
#include "ops/math/cast_builders.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<float> Numbers(const Tensor& t) {
  return {t.data<float>(), t.data<float>() + t.num_elements()};
}

Tensors Fetch(Graph& g, const OutputList& fetches) {
  EXPECT_TRUE(g.status().ok()) << g.status();
  Session session(g);
  const absl::Status status = session.Run({InitializeVariables(g)});
  EXPECT_TRUE(status.ok()) << status;
  absl::StatusOr<Tensors> values = session.Run({}, fetches);
  EXPECT_TRUE(values.ok()) << values.status();
  return values.ok() ? *std::move(values) : Tensors(fetches.size(), Tensor(DT_FLOAT, {0}));
}

int64_t NodesOf(const Graph& g, std::string_view op) {
  const std::vector<Node*> nodes = g.nodes();
  return std::count_if(nodes.begin(), nodes.end(),
                       [&](const Node* node) { return node->op().starts_with(op); });
}

// Returns three bags: one of three keys, two of which are equal, an empty one, and one of two keys.
const Tensor kIndices = Tensor::Of<int64_t>({5, 2}, {0, 0, 0, 1, 0, 2, 2, 0, 2, 3});
SparseOutput Bags(Graph& g, int64_t rows = 3) {
  return {Constant(g, kIndices), Constant(g, Tensor::Vector<int64_t>({7, -9, 7, 7, 100})),
          Constant(g, Tensor::Vector<int64_t>({rows, 4}))};
}
SparseOutput Weights(Graph& g) {
  return {Constant(g, kIndices),
          Identity(Constant(g, Tensor::Vector<float>({0.3f, 1.7f, -0.2f, 0.9f, 2.5f}))),
          Constant(g, Tensor::Vector<int64_t>({3, 4}))};
}

// Sums the gradient with respect to each key, from the slices of all parts of a table.
std::map<int64_t, std::vector<float>> ByKey(const Tensors& fetched, size_t parts) {
  std::map<int64_t, std::vector<float>> sums;
  for (size_t p = 0; p < parts; ++p) {
    const Tensor &keys = fetched[2 * p], &rows = fetched[2 * p + 1];
    for (int64_t i = 0; i < keys.num_elements(); ++i) {
      std::vector<float>& sum = sums[keys.data<int64_t>()[i]];
      sum.resize(static_cast<size_t>(rows.dim(1)));
      for (size_t k = 0; k < sum.size(); ++k) {
        sum[k] += rows.data<float>()[i * rows.dim(1) + static_cast<int64_t>(k)];
      }
    }
  }
  return sums;
}

struct Result {
  std::vector<float> rows, of_weights;
  std::map<int64_t, std::vector<float>> by_key;
};

// Looks up bags, and computes the gradients of a weighted sum of the result.
Result LookUp(int shards, Combiner combiner, bool is_weighted, DataType dtype = DT_FLOAT) {
  Graph g;
  EmbeddingTable table(
      g, "t", 5,
      {.dtype = dtype, .initial_rows = InitialRows::Uniform(-1, 1), .num_shards = shards});
  std::optional<SparseOutput> weights;
  if (is_weighted) weights = Weights(g);
  Output rows = EmbeddingLookupSparse(table, Bags(g), weights, {.combiner = combiner});
  EXPECT_EQ(NodesOf(g, "EmbeddingTableLookupAll"), shards == 1 ? 1 : 0);
  if (dtype != DT_FLOAT) rows = Cast(rows, DT_FLOAT);
  std::vector<float> factors(15);
  for (size_t i = 0; i < factors.size(); ++i) factors[i] = 0.37f * static_cast<float>(i) - 1.9f;
  const Output loss = ReduceSum(rows * Constant(g, Tensor::Of<float>({3, 5}, factors)));
  OutputList xs;
  for (const Variable& part : table.shards()) xs.push_back(part.handle());
  if (is_weighted) xs.push_back(weights->values);
  const absl::StatusOr<std::vector<Grad>> grads = Gradients({loss}, xs);
  EXPECT_TRUE(grads.ok()) << grads.status();
  OutputList fetches;
  for (int i = 0; grads.ok() && i < shards; ++i) {
    const IndexedSlices slices = (*grads)[static_cast<size_t>(i)].slices();
    fetches.push_back(slices.indices);
    fetches.push_back(dtype == DT_FLOAT ? slices.values : Cast(slices.values, DT_FLOAT));
  }
  fetches.push_back(rows);
  if (is_weighted && grads.ok()) fetches.push_back(grads->back().dense());
  const Tensors found = Fetch(g, fetches);
  const auto parts = static_cast<size_t>(shards);
  return {.rows = Numbers(found[2 * parts]),
          .of_weights = is_weighted ? Numbers(found.back()) : std::vector<float>(),
          .by_key = ByKey(found, parts)};
}

TEST(EmbeddingLookupSparse, OneNodeHasTheBitsOfSingleOps) {
  for (const Combiner combiner : {Combiner::kSum, Combiner::kMean, Combiner::kSqrtN}) {
    for (const bool is_weighted : {false, true}) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(combiner) << is_weighted);
      const Result one = LookUp(1, combiner, is_weighted);
      const Result single = LookUp(2, combiner, is_weighted);
      EXPECT_EQ(one.rows, single.rows);
      EXPECT_EQ(one.by_key, single.by_key);
      ASSERT_EQ(one.of_weights.size(), single.of_weights.size());
      for (size_t i = 0; i < one.of_weights.size(); ++i) {
        EXPECT_NEAR(one.of_weights[i], single.of_weights[i], 1e-5);
      }
    }
  }
}

TEST(EmbeddingLookupSparse, SixteenBitRowsAreSummedInFloat) {
  const Result half = LookUp(1, Combiner::kMean, false, DT_HALF);
  EXPECT_EQ(half.rows, LookUp(2, Combiner::kMean, false, DT_HALF).rows);
  const Result whole = LookUp(1, Combiner::kMean, false);
  for (size_t i = 0; i < half.rows.size(); ++i) EXPECT_NEAR(half.rows[i], whole.rows[i], 1e-3);
  for (const auto& [key, grad] : half.by_key) {
    for (size_t k = 0; k < grad.size(); ++k) EXPECT_NEAR(grad[k], whole.by_key.at(key)[k], 2e-3);
  }
}

TEST(EmbeddingLookupSparse, TheGradientHasEachKeyOnce) {
  Graph g;
  EmbeddingTable table(g, "t", 2, {.initial_rows = InitialRows::Constant(1)});
  const Output rows = EmbeddingLookupSparse(table, Bags(g), std::nullopt, {Combiner::kSum});
  const absl::StatusOr<std::vector<Grad>> grads =
      Gradients({ReduceSum(rows)}, {table.shards()[0].handle()});
  ASSERT_TRUE(grads.ok()) << grads.status();
  const IndexedSlices& slices = (*grads)[0].slices();
  EXPECT_TRUE(HasDistinctKeys(slices.indices));
  const Tensors found = Fetch(g, {slices.indices, slices.values});
  EXPECT_EQ(found[0].SummarizeValues(-1), "7 -9 100");
  EXPECT_THAT(Numbers(found[1]), ElementsAre(3, 3, 1, 1, 1, 1));
}

TEST(LookupAll, IsTheConcatenationOfSingleLookups) {
  Graph g;
  const EmbeddingTable users(g, "users", 3), items(g, "items", 2);
  const EmbeddingTable parts(g, "parts", 2, {.num_shards = 2});
  const Variable rows(g, "rows", Tensor::Of<float>({3, 2}, {1, 2, 3, 4, 5, 6}));
  const Output ids = Constant(g, Tensor::Vector<int64_t>({4, 5, 4}));
  const Output small = Constant(g, Tensor::Vector<int32_t>({2, 0, 1}));
  const SparseOutput bags = Bags(g);
  const Output all = LookupAll({{.table = users, .ids = ids},
                                {.table = rows, .ids = small},
                                {.table = items, .bags = bags, .weights = Weights(g)},
                                {.table = items, .bags = bags, .combiner = Combiner::kSum},
                                {.table = parts, .ids = ids},
                                {.table = users, .ids = small}});
  const Output single = Concat({EmbeddingLookup(users, ids), EmbeddingLookup(rows, small),
                                EmbeddingLookupSparse(items, bags, Weights(g)),
                                EmbeddingLookupSparse(items, bags, std::nullopt, {Combiner::kSum}),
                                EmbeddingLookup(parts, ids), EmbeddingLookup(users, small)},
                               1);
  const Tensors found = Fetch(g, {all, single});
  EXPECT_EQ(found[0].shape(), TensorShape({3, 14}));
  EXPECT_EQ(Numbers(found[0]), Numbers(found[1]));
}

TEST(LookupAll, RowsAtTheEndMayHaveNoKey) {
  Graph g;
  const EmbeddingTable table(g, "t", 2, {.initial_rows = InitialRows::Constant(1)});
  const Variable rows(g, "rows", Tensor::Of<float>({101, 1}, std::vector<float>(101, 2)));
  SparseOutput of_rows = Bags(g, 4);
  of_rows.values = Constant(g, Tensor::Vector<int64_t>({7, 9, 7, 7, 100}));
  const SparseOutput none = {Constant(g, Tensor(DT_INT64, {0, 2})),
                             Constant(g, Tensor(DT_INT64, {0})),
                             Constant(g, Tensor::Vector<int64_t>({4, 4}))};
  const Output all = LookupAll({{.table = table, .bags = Bags(g, 4)},
                                {.table = rows, .bags = of_rows},
                                {.table = table, .bags = none}});
  const Output empty = LookupAll({{.table = table, .bags = none}});
  const Tensors found = Fetch(g, {all, empty});
  EXPECT_THAT(Numbers(found[0]), ElementsAre(1, 1, 2, 0, 0,  //
                                             0, 0, 0, 0, 0,  //
                                             1, 1, 2, 0, 0,  //
                                             0, 0, 0, 0, 0));
  EXPECT_THAT(Numbers(found[1]), testing::Each(0));
  EXPECT_EQ(found[1].shape(), TensorShape({4, 2}));
}

TEST(LookupAll, OneNodeReadsAllTables) {
  Graph g;
  std::vector<FieldLookup> fields;
  for (int f = 0; f < 26; ++f) {
    fields.push_back({.table = EmbeddingTable(g, "t", 4),
                      .ids = Constant(g, Tensor::Vector<int64_t>({f, 2 * f}))});
  }
  const Output all = LookupAll(fields);
  ASSERT_TRUE(g.status().ok()) << g.status();
  EXPECT_EQ(all.shape().ToString(), "[2,104]");
  EXPECT_EQ(all.node->op(), "EmbeddingTableLookupAll");
  EXPECT_EQ(NodesOf(g, "EmbeddingTableLookup"), 1);
}

std::string ErrorOf(const Graph& g) { return std::string(g.status().message()); }

TEST(LookupAllErrors, FieldsThatDoNotFit) {
  Graph g;
  const EmbeddingTable table(g, "t", 2);
  LookupAll({{.table = table, .ids = Constant(g, {{1, 2}})}});
  EXPECT_THAT(ErrorOf(g), HasSubstr("field 0: expected a vector of ids, got shape [1,2]"));
  Graph h;
  const EmbeddingTable other(h, "t", 2);
  LookupAll({{.table = other, .ids = Constant(h, {1}), .bags = Bags(h)}});
  EXPECT_THAT(ErrorOf(h), HasSubstr("field 0: expected ids or bags, got both"));
}

// Returns the error of the op for these inputs and two tables, whose rows have 2 elements.
std::string ErrorOf(const std::vector<int64_t>& keys, const std::vector<int64_t>& sizes,
                    const std::vector<int32_t>& segments, const std::vector<float>& weights,
                    int64_t num_rows) {
  Graph g;
  const EmbeddingTable a(g, "a", 2), b(g, "b", 2);
  const Output rows = EmbeddingTableLookupAll(
      {a.shards()[0].handle(), b.shards()[0].handle()}, Constant(g, Tensor::Vector<int64_t>(keys)),
      Constant(g, Tensor::Vector<int64_t>(sizes)), Constant(g, Tensor::Vector<int32_t>(segments)),
      Constant(g, Tensor::Vector<float>(weights)), Constant(g, num_rows), {2, 2}, {"sum", "mean"},
      DT_FLOAT);
  if (!g.status().ok()) return ErrorOf(g);
  Session session(g);
  return std::string(session.Run({}, {rows}).status().message());
}

TEST(LookupAllErrors, InputsOfTheOp) {
  EXPECT_EQ(ErrorOf({1, 2, 3}, {1, 2}, {0, 0, 4}, {}, 5), "");
  EXPECT_THAT(ErrorOf({1, 2, 3}, {}, {}, {}, -1),
              HasSubstr("divisible by the number of fields, 2, got 3"));
  EXPECT_THAT(ErrorOf({1, 2}, {1}, {}, {}, -1), HasSubstr("one size for each of 2 fields, got 1"));
  EXPECT_THAT(ErrorOf({1, 2}, {3, -1}, {}, {}, -1), HasSubstr("expected sizes with the sum 2"));
  EXPECT_THAT(ErrorOf({1, 2}, {1, 0}, {}, {}, -1), HasSubstr("expected sizes with the sum 2"));
  EXPECT_THAT(ErrorOf({1, 2}, {}, {0}, {}, -1), HasSubstr("expected no segment, or 2"));
  EXPECT_THAT(ErrorOf({1, 2}, {}, {}, {1}, -1), HasSubstr("expected no weight, or 2"));
  EXPECT_THAT(ErrorOf({1, 2, 3}, {2, 1}, {1, 0, 0}, {}, -1),
              HasSubstr("ascending segments that are not negative in field 0, got 0 behind 1"));
  EXPECT_THAT(ErrorOf({1, 2}, {}, {-1, 0}, {}, -1), HasSubstr("got -1 behind 0"));
  EXPECT_THAT(ErrorOf({1, 2}, {}, {0, 3}, {}, 3),
              HasSubstr("segments less than the number of rows, 3, got 3"));
  EXPECT_THAT(ErrorOf({1, 2, 3}, {1, 2}, {}, {}, -1),
              HasSubstr("one key per row without segments, 1, got 2 in field 1"));
  EXPECT_THAT(ErrorOf({1, 2}, {}, {}, {}, -2), HasSubstr("expected num_rows >= -1, got -2"));
}

}  // namespace
}  // namespace sluice
