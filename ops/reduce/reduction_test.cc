#include "ops/reduce/reduction.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;

absl::StatusOr<ReductionPlan> Plan(const TensorShape& input, const std::vector<int32_t>& axes,
                                   bool keep_dims = false) {
  return PlanReduction(input, Tensor::Vector<int32_t>(axes), keep_dims);
}

auto Kept(int64_t n) {
  return AllOf(Field(&ReductionPlan::Dim::size, n), Field(&ReductionPlan::Dim::reduced, false));
}
auto Reduced(int64_t n) {
  return AllOf(Field(&ReductionPlan::Dim::size, n), Field(&ReductionPlan::Dim::reduced, true));
}

TEST(PlanReduction, NeighboursFoldAndOnesVanish) {
  const ReductionPlan plan = *Plan({8, 1, 4, 5, 6}, {0, 1, 2});
  EXPECT_THAT(plan.dims, ElementsAre(Reduced(32), Kept(30)));
  EXPECT_EQ(plan.output, TensorShape({5, 6}));
  EXPECT_EQ(plan.count, 32);
}

TEST(PlanReduction, NegativeAxesCountFromTheEnd) {
  const ReductionPlan plan = *Plan({2, 3, 4}, {-2}, true);
  EXPECT_THAT(plan.dims, ElementsAre(Kept(2), Reduced(3), Kept(4)));
  EXPECT_EQ(plan.output, TensorShape({2, 1, 4}));
}

TEST(PlanReduction, AxesOutsideTheRankAreRefused) {
  EXPECT_EQ(Plan({2, 3}, {2}).status().message(),
            "Invalid reduction dimension (2 for input with 2 dimension(s)");
  EXPECT_EQ(Plan({2, 3}, {0, -2}).status().message(),
            "Invalid reduction arguments: Axes contains duplicate dimension: 0");
}

}  // namespace
}  // namespace sluice
