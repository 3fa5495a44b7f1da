// The code in docs/embedding_tables.md.

#include "executor/session/session.h"
#include "gtest/gtest.h"
#include "ops/array/builders.h"
#include "ops/embedding/embedding.h"
#include "ops/embedding/embedding_table.h"
#include "ops/sugar.h"
#include "training/optimizer/adagrad.h"

namespace sluice {
namespace {

TEST(EmbeddingTableSamples, Train) {
  Graph g;
  const Output ids = Placeholder(g, DT_INT64, {-1}, "ids");
  // [train]
  EmbeddingTable items(g, "items", 16, {.initial_rows = InitialRows::Normal(0, 0.01f)});
  Output rows = EmbeddingLookup(items, ids);  // [ids..., 16]
  Output loss = ReduceSum(rows * rows);
  Operation train = Adagrad({.learning_rate = 0.1f}).Minimize(loss);
  // [/train]
  ASSERT_TRUE(g.status().ok()) << g.status();
  Session session(g);
  const Tensor some = Tensor::Vector<int64_t>({3, int64_t{1} << 60, -3});
  const auto first = session.Run({{ids, some}}, {loss}, {train});
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = session.Run({{ids, some}}, {loss});
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_NE((*first)[0].scalar<float>(), (*second)[0].scalar<float>());
}

TEST(EmbeddingTableSamples, Rules) {
  Graph g;
  // [rules]
  EmbeddingTable items(g, "items", 16,
                       {.admission = {.after_updates = 5},
                        .eviction = {.idle_steps = 100'000, .capacity = 10'000'000}});
  // [/rules]
  const Output rows = EmbeddingLookup(items, Constant(g, Tensor::Vector<int64_t>({4, 9})));
  ASSERT_TRUE(g.status().ok()) << g.status();
  Session session(g);
  const auto values = session.Run({}, {rows});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ((*values)[0].shape(), TensorShape({2, 16}));
}

TEST(EmbeddingTableSamples, AllFieldsAtOnce) {
  Graph g;
  const EmbeddingTable users(g, "users", 16), items(g, "items", 8);
  const Output user = Constant(g, Tensor::Vector<int64_t>({4, 9}));
  const SparseOutput clicks = {Constant(g, Tensor::Of<int64_t>({3, 2}, {0, 0, 1, 0, 1, 1})),
                               Constant(g, Tensor::Vector<int64_t>({1, 2, 3})),
                               Constant(g, Tensor::Vector<int64_t>({2, 2}))};
  // [all]
  Output x = LookupAll({
      {.table = users, .ids = user},                                 // one id per example
      {.table = items, .bags = clicks, .combiner = Combiner::kSum},  // any number of ids
  });                                                                // [batch, 16 + 8]
  // [/all]
  ASSERT_TRUE(g.status().ok()) << g.status();
  Session session(g);
  const auto rows = session.Run({}, {x});
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ((*rows)[0].shape(), TensorShape({2, 24}));
}

}  // namespace
}  // namespace sluice
