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

}  // namespace
}  // namespace sluice
