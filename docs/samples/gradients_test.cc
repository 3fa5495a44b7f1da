// The code in docs/gradients.md.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sluice.h"

namespace sluice {
namespace {

TEST(GradientSamples, Dense) {
  // [dense]
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {-1}, "x");
  Output y = ReduceSum(Square(x));
  absl::StatusOr<std::vector<Grad>> grads = Gradients({y}, {x});
  Output dy_dx = (*grads)[0].dense();
  // [/dense]
  ASSERT_TRUE(g.status().ok()) << g.status();
  Session session(g);
  const auto out = session.Run({{x, Tensor::Vector<float>({1, -3})}}, {dy_dx});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT((*out)[0].flat<float>(), testing::ElementsAre(2, -6));
}

TEST(GradientSamples, SparseAndNone) {
  // [kinds]
  Graph g;
  Variable table(g, "table", {1000, 8}, GlorotUniform());
  Variable unused(g, "unused", {8}, Zeros());
  Output loss = ReduceSum(Gather(table, Constant(g, {3, 5, 3})));
  std::vector<Grad> grads = Gradients({loss}, {table.handle(), unused.handle()}).value();
  IndexedSlices rows = grads[0].slices();  // three rows: 3, 5 and 3 again
  bool no_path = grads[1].is_none();       // nothing leads from `unused` to the loss
  // [/kinds]
  EXPECT_TRUE(rows);
  EXPECT_TRUE(no_path);
}

TEST(GradientSamples, Stopping) {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {}, "x");
  // [stopping]
  Output target = StopGradient(x * 2.0f);  // a constant, as far as gradients see
  Output loss = Square(x - target);
  std::vector<Grad> grads = Gradients({loss}, {x}, {.name = "by_x"}).value();
  // [/stopping]
  Session session(g);
  const auto out = session.Run({{x, Tensor::Scalar(3.0f)}}, {grads[0].dense()});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)[0].scalar<float>(), -6);
}

}  // namespace
}  // namespace sluice
