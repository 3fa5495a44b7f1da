// What users of such systems asked for (docs/demands.md), each as a test; the number is the row's.
#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sluice.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Tensor Row(std::initializer_list<float> v) {
  return Tensor::Of<float>({1, static_cast<int64_t>(v.size())}, v);
}

// A user had to know that one differentiates not the variable but its assignment (#9837).
TEST(DemandsTest, Row2GradientWithRespectToAVariableIsTheNumericOne) {
  for (const bool use_resource : {false, true}) {
    Graph g;
    Variable w(g, "w", Tensor::Of<double>({2, 2}, {0.3, -0.2, 0.5, 0.1}),
               {.dtype = DT_DOUBLE, .use_resource = use_resource});
    Output x = Constant(g, Tensor::Of<double>({1, 2}, {1.5, -0.7}));
    Output loss = ReduceSum(Tanh(MatMul(x, w)));
    absl::StatusOr<std::vector<Grad>> grads = Gradients({loss}, {w.handle()});
    ASSERT_TRUE(grads.ok()) << grads.status();
    Output nudge = Placeholder(g, DT_DOUBLE, {2, 2}, "nudge");
    Operation move = w.AssignAdd(nudge);
    Session session(g);
    ASSERT_TRUE(session.Run({InitializeVariables(g)}).ok());
    const Tensor grad = (*session.Run({}, {(*grads)[0].dense()}, {}))[0];
    constexpr double kStep = 1e-6;
    auto loss_after = [&](int element, double by) {
      Tensor delta = Tensor::Of<double>({2, 2}, {0, 0, 0, 0});
      delta.data<double>()[element] = by;
      EXPECT_TRUE(session.Run({{nudge, delta}}, {}, {move}).ok());
      return (*session.Run({}, {loss}, {}))[0].scalar<double>();
    };
    for (int i = 0; i < 4; ++i) {
      const double above = loss_after(i, kStep);
      const double below = loss_after(i, -2 * kStep);
      loss_after(i, kStep);
      EXPECT_NEAR(grad.data<double>()[i], (above - below) / (2 * kStep), 1e-7);
    }
  }
}

// Whether a missing gradient fails or trains on silently was unclear (#11626).
TEST(DemandsTest, Row3AMissingGradientNamesOpNodeAndPath) {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {2}, "x");
  Output clipped = Identity(x, {.name = "clipped"});
  Output y =
      NodeBuilder(&g, "OpWithoutGradient", At::current()).Name("odd").Input(clipped).Finish();
  Output loss = ReduceSum(y, {}, {.name = "loss"});
  const absl::Status status = Gradients({loss}, {x}).status();
  EXPECT_THAT(status.message(),
              HasSubstr("No gradient defined for operation 'odd' (op type: OpWithoutGradient)"));
  EXPECT_THAT(status.message(), HasSubstr("'x' -> 'clipped' -> 'odd' -> 'loss'"));
}
OP(OpWithoutGradient, "Nobody registered a gradient.")
    .Input("x", DT_FLOAT)
    .Output("y", DT_FLOAT)
    .Shape(SameAsInput(0));

// A variable that the loss does not reach was simply never updated.
TEST(DemandsTest, Row5UnreachedVariablesAreNamed) {
  for (const bool strict : {false, true}) {
    Graph g;
    Variable used(g, "used", Row({1, 2}));
    Variable forgotten(g, "forgotten", Row({1, 2}));
    ::testing::internal::CaptureStderr();
    GradientDescent({.learning_rate = 0.1f}).Minimize(ReduceSum(Square(used)), {.strict = strict});
    const std::string warned = ::testing::internal::GetCapturedStderr();
    const std::string text = strict ? std::string(g.status().message()) : warned;
    EXPECT_EQ(g.status().ok(), !strict);
    EXPECT_THAT(text, HasSubstr("will not be trained: 'forgotten'"));
    EXPECT_THAT(text, Not(HasSubstr("'used'")));
  }
}

// "Queue closed" hid the error that closed it.
TEST(DemandsTest, Row35TheFirstCauseIsReported) {
  Graph g;
  Queue queue = Queue::Fifo(g, 1, {DT_FLOAT}, {.shapes = {PartialShape::Scalar()}});
  Output waits = queue.Dequeue()[0];
  Output bad = CheckNumerics(Log(Constant(g, -1.0f)), "log of a negative number");
  Session session(g);
  const absl::Status status = session.Run({}, {waits, bad}, {}).status();
  EXPECT_THAT(status.message(), HasSubstr("log of a negative number : Tensor had NaN values"));
  EXPECT_THAT(status.message(), Not(HasSubstr("cancelled")));
}

// An uninitialised variable: which one?
TEST(DemandsTest, Row36AnUninitializedVariableIsNamed) {
  Graph g;
  Variable ref(g, "scope/by_reference", Row({1, 2}), {.use_resource = false});
  Variable resource(g, "scope/by_handle", Row({1, 2}));
  Session session(g);
  const absl::Status by_ref = session.Run({}, {ref.Read()}, {}).status();
  EXPECT_EQ(by_ref.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(by_ref.message(),
              HasSubstr("Attempting to use uninitialized value scope/by_reference"));
  const absl::Status by_handle = session.Run({}, {resource.Read()}, {}).status();
  EXPECT_EQ(by_handle.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(by_handle.message(), HasSubstr("Could not find variable scope/by_handle"));
}

}  // namespace
}  // namespace sluice
