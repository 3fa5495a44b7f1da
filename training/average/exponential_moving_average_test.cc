// Tests errors and handles. tests/oracle/training compares nodes and values with TensorFlow's.
#include "training/average/exponential_moving_average.h"

#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "graph/build/cond.h"
#include "gtest/gtest.h"
#include "ops/builders/ops.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

TEST(ExponentialMovingAverageTest, IntegersHaveNone) {
  Graph g;
  Variable n(g, "n", 3);
  ExponentialMovingAverage average(0.9);
  EXPECT_EQ(average.Apply({n}).status(),
            absl::InvalidArgumentError("The variables must be half, float, or double: n:0"));
  EXPECT_EQ(average.Average(n), std::nullopt);
}

TEST(ExponentialMovingAverageTest, WithoutVariablesThereIsNothingToDo) {
  Graph g;
  ExponentialMovingAverage average(0.9);
  EXPECT_EQ(average.Apply(g).status(), absl::InvalidArgumentError("no variables to average"));
}

TEST(ExponentialMovingAverageTest, ASecondApplyUsesTheSameAverage) {
  Graph g;
  Variable w(g, "w", 2.0f);
  ExponentialMovingAverage average(0.5);
  const absl::StatusOr<Operation> first = average.Apply({w});
  ASSERT_TRUE(first.ok()) << first.status();
  const Variable shadow = *average.Average(w);
  const absl::StatusOr<Operation> second = average.Apply({w});
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(*average.Average(w), shadow);
  EXPECT_EQ(second->name(), "ExponentialMovingAverage_1");
  const Operation init = InitializeVariables(g);
  const Operation away = w.AssignAdd(8.0f);
  Session session(g);
  ASSERT_TRUE(session.Run({init}).ok());
  ASSERT_TRUE(session.Run({away}).ok());
  ASSERT_TRUE(session.Run({*first}).ok());
  ASSERT_TRUE(session.Run({*second}).ok());
  EXPECT_EQ((*session.Run({}, {shadow}))[0].scalar<float>(), 2 + 4 + 2);
}

// If variables are created in a branch, their averages are still outside all branches.
TEST(ExponentialMovingAverageTest, IsMadeOutsideOfBranches) {
  Graph g;
  Variable w(g, "w", 2.0f);
  ExponentialMovingAverage average(0.5);
  Output pred = Placeholder(g, DT_BOOL, PartialShape::Scalar(), "p");
  Cond(
      pred, [&] { return BranchResult(average.Apply({w}).value_or(Operation())); },
      [&] { return BranchResult(NoOp(g)); });
  ASSERT_TRUE(g.status().ok()) << g.status();
  EXPECT_EQ(average.Average(w)->op().node->context(), nullptr);
  const Operation init = InitializeVariables(g);
  Session session(g);
  ASSERT_TRUE(session.Run({init}).ok());
  EXPECT_EQ((*session.Run({}, {*average.Average(w)}))[0].scalar<float>(), 2);
}

}  // namespace
}  // namespace sluice
