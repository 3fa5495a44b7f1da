#include "tools/commands/metrics_text.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(MetricsText, ValuesByNameAndLabel) {
  const MetricValues values(
      "# TYPE a gauge\na 3\n"
      "b{queue=\"x \\\"y\\\"\\\\ }\"} 0.5\nb{queue=\"z\"} 2\n"
      "nonsense\n\n"
      "c_total 1e6");
  EXPECT_EQ(values.Sum("a"), 3);
  EXPECT_EQ(values.Sum("b"), 2.5);
  EXPECT_THAT(values.Of("b"), ElementsAre(Pair("x \"y\"\\ }", 0.5), Pair("z", 2)));
  EXPECT_EQ(values.Label("b"), "x \"y\"\\ }");
  EXPECT_EQ(values.Sum("c_total"), 1e6);
  EXPECT_EQ(values.Sum("none"), 0);
}

TEST(MetricsText, EmbeddingTables) {
  const std::vector<TableMetrics> tables =
      TablesOf(MetricValues("sluice_embedding_table_keys{table=\"items/part_0\"} 7\n"
                            "sluice_embedding_table_keys{table=\"users\"} 8\n"
                            "sluice_embedding_table_bytes{table=\"items/part_0\"} 2097152\n"
                            "sluice_embedding_table_admitted{table=\"items/part_0\"} 12\n"
                            "sluice_embedding_table_filtered{table=\"items/part_0\"} 34\n"
                            "sluice_embedding_table_evicted{table=\"items/part_0\"} 5\n"));
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[0].name, "items/part_0");
  EXPECT_EQ(tables[0].keys, 7);
  EXPECT_EQ(tables[0].bytes, 2097152);
  EXPECT_EQ(tables[0].admitted, 12);
  EXPECT_EQ(tables[0].filtered, 34);
  EXPECT_EQ(tables[0].evicted, 5);
  EXPECT_EQ(tables[1].name, "users");
  EXPECT_EQ(tables[1].keys, 8);
}

}  // namespace
}  // namespace sluice
