#include "distributed/master/cost_graph.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace sluice {
namespace {

TEST(CostModelSteps, IncludesStepsAtAnInterval) {
  const CostModelSteps steps = {.every = 3, .after = 2};
  for (const int64_t count : {1, 4, 7}) EXPECT_TRUE(steps.Includes(count)) << count;
  for (const int64_t count : {0, 2, 3, 5}) EXPECT_FALSE(steps.Includes(count)) << count;
  EXPECT_TRUE((CostModelSteps{.every = 3, .after = -1}).Includes(1));
  EXPECT_FALSE((CostModelSteps{.every = 0, .after = 0}).Includes(1));
}

// A client sets both numbers. Their difference to the count overflowed.
TEST(CostModelSteps, MayBeExtreme) {
  EXPECT_TRUE((CostModelSteps{.every = 2, .after = INT64_MIN}).Includes(1));
  EXPECT_FALSE((CostModelSteps{.every = 2, .after = INT64_MIN}).Includes(2));
  EXPECT_TRUE((CostModelSteps{.every = INT64_MAX, .after = -INT64_MAX + 2}).Includes(1));
}

}  // namespace
}  // namespace sluice
