#include "training/gradient/loss_scale.h"

#include <cmath>

#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/builders/ops.h"
#include "ops/sugar.h"
#include "training/optimizer/gradient_descent.h"

namespace sluice {
namespace {

GradientDescent Sgd() { return GradientDescent({.learning_rate = 0.5f}); }

TEST(LossScaleTest, AFixedScaleCancels) {
  Graph g;
  Variable w(g, "w", 3.0f);
  LossScaleOptimizer optimizer(Sgd(), FixedLossScale{1024});
  const Operation train = optimizer.Minimize(Square(w));
  ASSERT_TRUE(train) << g.status();
  const Operation init = InitializeVariables(g);
  Session session(g);
  ASSERT_TRUE(session.Run({init}).ok());
  ASSERT_TRUE(session.Run({train}).ok());
  EXPECT_EQ((*session.Run({}, {w}))[0].scalar<float>(), 0);
}

// If they are not scaled, gradients of type half below 6e-8 are 0.
TEST(LossScaleTest, SmallGradientsOfHalfSurvive) {
  Graph g;
  Variable w(g, "w", Tensor::Scalar(half(1.0f)));
  const Output loss = Cast(Output(w), DT_FLOAT) * 1e-8f;
  const Output plain = Sgd().ComputeGradients(loss).value()[0].grad.dense();
  LossScaleOptimizer optimizer(Sgd(), FixedLossScale{65536});
  // The gradient as it is before it is scaled back.
  const Output scaled = Sgd().ComputeGradients(loss * 65536.0f).value()[0].grad.dense();
  const Operation init = InitializeVariables(g);
  Session session(g);
  ASSERT_TRUE(session.Run({init}).ok());
  const absl::StatusOr<Tensors> values = session.Run({}, {plain, scaled});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ(static_cast<float>((*values)[0].scalar<half>()), 0);
  EXPECT_GT(static_cast<float>((*values)[1].scalar<half>()), 0);
}

TEST(LossScaleTest, MustBeOneAtLeast) {
  Graph g;
  Variable w(g, "w", 3.0f);
  LossScaleOptimizer optimizer(Sgd(), FixedLossScale{0.5f});
  EXPECT_EQ(optimizer.ComputeGradients(Square(w)).status(),
            absl::InvalidArgumentError("loss scale must be at least 1, but got: 0.5"));
}

// A step with an infinite gradient must change only the scale.
TEST(LossScaleTest, ADynamicScaleFollowsTheGradients) {
  Graph g;
  Variable step = GlobalStep(g);
  Variable w(g, "w", 3.0f);
  const Output x = Placeholder(g, DT_FLOAT, PartialShape::Scalar(), "x");
  LossScaleOptimizer optimizer(
      Sgd(), DynamicLossScale{.initial_loss_scale = 8, .increment_period = 2, .multiplier = 4});
  const Operation train = optimizer.Minimize(w * x, {.global_step = &step});
  ASSERT_TRUE(train) << g.status();
  const Variable scale = *Variable::Find(g, "current_loss_scale");
  const Operation init = InitializeVariables(g);
  Session session(g);
  ASSERT_TRUE(session.Run({init}).ok());
  struct Step {
    float x, w, scale;
    int64_t steps;
  };
  for (const Step& expected : std::vector<Step>{{1, 2.5f, 8, 1},
                                                {1, 2.0f, 32, 2},
                                                {INFINITY, 2.0f, 8, 2},
                                                {1, 1.5f, 8, 3},
                                                {INFINITY, 1.5f, 2, 3},
                                                {INFINITY, 1.5f, 1, 3},
                                                {1, 1.0f, 1, 4}}) {
    ASSERT_TRUE(session.Run({{x, Tensor::Scalar(expected.x)}}, {}, {train}).ok());
    const absl::StatusOr<Tensors> values = session.Run({}, {w, scale, step});
    ASSERT_TRUE(values.ok()) << values.status();
    EXPECT_EQ((*values)[0].scalar<float>(), expected.w);
    EXPECT_EQ((*values)[1].scalar<float>(), expected.scale);
    EXPECT_EQ((*values)[2].scalar<int64_t>(), expected.steps);
  }
}

}  // namespace
}  // namespace sluice
