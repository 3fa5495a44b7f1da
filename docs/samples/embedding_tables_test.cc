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

}  // namespace
}  // namespace sluice
