#include "ops/loops/broadcast.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;

absl::StatusOr<BroadcastPlan<2>> Plan(const TensorShape& x, const TensorShape& y) {
  return PlanBroadcast<2>({&x, &y});
}

TEST(PlanBroadcast, EqualShapesAreOneLoop) {
  const BroadcastPlan<2> plan = *Plan({2, 3, 4}, {2, 3, 4});
  EXPECT_THAT(plan.dims, ElementsAre(24));
  EXPECT_THAT(plan.strides[0], ElementsAre(1));
  EXPECT_THAT(plan.strides[1], ElementsAre(1));
}

TEST(PlanBroadcast, ARowIsTwoLoopsWhateverTheRank) {
  const BroadcastPlan<2> plan = *Plan({2, 3, 4, 5}, {4, 5});
  EXPECT_THAT(plan.dims, ElementsAre(6, 20));
  EXPECT_THAT(plan.strides[0], ElementsAre(20, 1));
  EXPECT_THAT(plan.strides[1], ElementsAre(0, 1));
}

TEST(PlanBroadcast, AColumnRepeatsInTheInnerLoop) {
  const BroadcastPlan<2> plan = *Plan({3, 1}, {3, 4});
  EXPECT_THAT(plan.dims, ElementsAre(3, 4));
  EXPECT_THAT(plan.strides[0], ElementsAre(1, 0));
  EXPECT_THAT(plan.strides[1], ElementsAre(4, 1));
}

TEST(PlanBroadcast, EmptyOperandsGiveNoRows) {
  const BroadcastPlan<2> plan = *Plan({0, 1}, {1, 3});
  EXPECT_EQ(plan.shape, TensorShape({0, 3}));
  EXPECT_EQ(plan.rows(), 0);
}

TEST(PlanBroadcast, ShapesThatDoNotFitAreNamed) {
  EXPECT_EQ(Plan({2, 3}, {2, 2}).status().message(), "Incompatible shapes: [2,3] vs. [2,2]");
}

TEST(ForRows, VisitsEveryRowOnceFromAnyStart) {
  const BroadcastPlan<2> plan = *Plan({2, 1, 3, 1}, {1, 4, 1, 5});
  std::vector<std::array<int64_t, 2>> all, parts;
  auto into = [](auto& list) {
    return [&list](int64_t, const std::array<int64_t, 2>& at) { list.push_back(at); };
  };
  ForRows<2>(plan, 0, plan.rows(), into(all));
  for (int64_t r = 0; r < plan.rows(); ++r) ForRows<2>(plan, r, r + 1, into(parts));
  EXPECT_EQ(all.size(), 2u * 4 * 3);
  EXPECT_EQ(all, parts);
  EXPECT_THAT(all.back(), ElementsAre(5, 15));
}

}  // namespace
}  // namespace sluice
