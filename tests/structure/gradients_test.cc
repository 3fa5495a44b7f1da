// Gradients builds the same nodes as tf.gradients.
#include "graph/gradient/gradients.h"

#include "gmock/gmock.h"
#include "graph/build/cond.h"
#include "gtest/gtest.h"
#include "ops/builders/ops.h"
#include "ops/state/variable.h"
#include "ops/sugar.h"
#include "tests/structure/graph_lines.h"

namespace sluice {
namespace {

Output Matrix(Graph& g, std::string_view name = "x") {
  return Placeholder(g, DT_FLOAT, {-1, 3}, name);
}
Output Pair(Graph& g, std::string_view name = "x") { return Placeholder(g, DT_FLOAT, {2}, name); }
Output Bool(Graph& g, std::string_view name = "p") {
  return Placeholder(g, DT_BOOL, PartialShape::Scalar(), name);
}

void Differentiate(const OutputList& ys, const OutputList& xs, GradientOptions options = {}) {
  absl::StatusOr<std::vector<Grad>> grads = Gradients(ys, xs, std::move(options));
  EXPECT_TRUE(grads.ok()) << grads.status();
}

TEST(GradientsTest, LinearRegression) {
  Graph g;
  Output x = Matrix(g), y = Placeholder(g, DT_FLOAT, {-1, 1}, "y");
  const VariableOptions ref = {.use_resource = false};
  Variable w(g, "w", Tensor::Of<float>({3, 1}, {1, 2, 3}), ref);
  Variable b(g, "b", Tensor::Vector<float>({0.5}), ref);
  Output loss = ReduceMean(Square(MatMul(x, w) + b - y));
  Differentiate({loss}, {w.handle(), b.handle()}, {.gate_gradients = true});
  EXPECT_TRUE(EqualsFixture(g, "gradients_of_linear_regression"));
}

TEST(GradientsTest, ResourceVariablesByHandle) {
  Graph g;
  Output x = Matrix(g);
  Variable w(g, "w", Tensor::Of<float>({3, 1}, {1, 2, 3}));
  Variable e(g, "e", Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
  Output rows = Gather(e, Placeholder(g, DT_INT32, {-1}, "ids"));
  Output product = rows * x;
  Differentiate({ReduceSum(MatMul(product, w))}, {w.handle(), e.handle()});
  EXPECT_TRUE(EqualsFixture(g, "gradients_of_resource_variables"));
}

void MakeSum(Graph& g, AggregationMethod method) {
  Output x = Pair(g);
  Output y = Tanh(x);
  Output square = y * y;
  Differentiate({square + Exp(y)}, {x}, {.aggregation = method});
}
TEST(GradientsTest, SeveralUsesAddUp) {
  Graph g;
  MakeSum(g, AggregationMethod::kAddN);
  EXPECT_TRUE(EqualsFixture(g, "gradients_add_up"));
}
TEST(GradientsTest, SeveralUsesAddUpAsATree) {
  Graph g;
  MakeSum(g, AggregationMethod::kExperimentalTree);
  EXPECT_TRUE(EqualsFixture(g, "gradients_add_up_as_a_tree"));
}
// As in TensorFlow 1.15. TensorFlow 2 builds a tree for any number.
TEST(GradientsTest, MoreThanTwoUsesOfKnownShapeAddUpInOneBuffer) {
  Graph g;
  MakeSum(g, AggregationMethod::kExperimentalAccumulateN);
  EXPECT_TRUE(EqualsFixture(g, "gradients_accumulate_n"));
  const Node* sum = g.Find("gradients/AccumulateNV2");
  ASSERT_NE(sum, nullptr);
  EXPECT_EQ(*sum->FindAttr<PartialShape>("shape"), PartialShape({2}));
}
TEST(GradientsTest, TwoUsesAreNoSumForOneBuffer) {
  Graph g;
  Output x = Pair(g);
  Output y = Tanh(x);
  Output sine = Sin(y);
  Differentiate({sine + Exp(y)}, {x}, {.aggregation = AggregationMethod::kExperimentalAccumulateN});
  EXPECT_TRUE(EqualsFixture(g, "gradients_accumulate_n_of_two"));
}
TEST(GradientsTest, UsesOfUnknownShapeAddUpAsATreeInsteadOfInOneBuffer) {
  Graph g;
  Output x = Matrix(g);
  Output y = Tanh(x);
  Output square = y * y;
  Differentiate({square + Exp(y)}, {x},
                {.aggregation = AggregationMethod::kExperimentalAccumulateN});
  EXPECT_TRUE(EqualsFixture(g, "gradients_accumulate_n_of_an_unknown_shape"));
}

TEST(GradientsTest, RowsAreConcatenated) {
  Graph g;
  Variable w(g, "w", Splat(Tensor::Scalar(0.0f), {4, 2}), {.use_resource = false});
  Output i = Placeholder(g, DT_INT32, {3}, "i"), j = Placeholder(g, DT_INT32, {3}, "j");
  Output a = Gather(w, i);
  Output b = Gather(w, j);
  Differentiate({a * b}, {w.handle()});
  EXPECT_TRUE(EqualsFixture(g, "gradients_of_rows_add_up"));
}

TEST(GradientsTest, RowsBesideDenseBecomeDense) {
  Graph g;
  Variable w(g, "w", Splat(Tensor::Scalar(0.0f), {4, 2}), {.use_resource = false});
  Output i = Placeholder(g, DT_INT32, {3}, "i");
  Output of_rows = ReduceSum(Gather(w, i));
  Differentiate({of_rows + ReduceSum(w)}, {w.handle()});
  EXPECT_TRUE(EqualsFixture(g, "gradients_of_rows_and_dense_add_up"));
}

TEST(GradientsTest, OutputsWithoutGradientGetZeros) {
  Graph g;
  Output x = Matrix(g);
  OutputList parts = Split(x, 3, 1);
  Output y = parts[0] * 2.0;
  Differentiate({y, parts[2]}, {x}, {.grad_ys = {Grad(), Placeholder(g, DT_FLOAT, {-1, 1}, "g")}});
  EXPECT_TRUE(EqualsFixture(g, "gradients_of_a_branching_op"));
}

TEST(GradientsTest, StopAtWhatIsConstant) {
  Graph g;
  Output x = Pair(g);
  Output y = Exp(x);
  Output z = Sin(y) * x;
  Differentiate({z}, {x, y}, {.stop_gradients = {y}});
  Differentiate({StopGradient(y) * x}, {x});
  EXPECT_TRUE(EqualsFixture(g, "gradients_stop"));
}

TEST(GradientsTest, StandBesideTheirOps) {
  Graph g;
  Output x, y, z;
  {
    DeviceScope a(g, "/job:a");
    x = Pair(g);
    y = Exp(x);
  }
  {
    DeviceScope b(g, "/job:b");
    z = Sin(y) * x;
  }
  Differentiate({z}, {x}, {.colocate_gradients_with_ops = true, .gate_gradients = true});
  EXPECT_TRUE(EqualsFixture(g, "gradients_colocated"));
}

TEST(GradientsTest, AddUpADeviceAtATime) {
  Graph g;
  Output x, y, z;
  {
    DeviceScope a(g, "/job:a");
    x = Pair(g);
  }
  {
    DeviceScope b(g, "/job:b");
    Output e = Exp(x);
    y = e + Sin(x);
  }
  {
    DeviceScope c(g, "/job:c");
    z = Cos(x);
  }
  Differentiate({y, z}, {x}, {.colocate_gradients_with_ops = true});
  EXPECT_TRUE(EqualsFixture(g, "gradients_over_devices"));
}

TEST(GradientsTest, UnconnectedOnesMayBeZeros) {
  Graph g;
  Output x = Matrix(g), y = Pair(g, "y");
  Differentiate({Exp(x)}, {x, y}, {.unconnected = UnconnectedGradients::kZero});
  EXPECT_TRUE(EqualsFixture(g, "gradients_unconnected"));
}

TEST(GradientsTest, OfGradients) {
  Graph g;
  Output x = Pair(g);
  absl::StatusOr<std::vector<Grad>> first = Gradients({Exp(x) * x}, {x});
  ASSERT_TRUE(first.ok()) << first.status();
  Differentiate({(*first)[0].dense()}, {x});
  EXPECT_TRUE(EqualsFixture(g, "second_gradients"));
}

TEST(GradientsTest, CrossEntropy) {
  Graph g;
  Output x = Matrix(g), labels = Placeholder(g, DT_INT64, {-1}, "labels");
  Output w = Placeholder(g, DT_FLOAT, {3, 4}, "w");
  Output logits = Relu(MatMul(x, w));
  Output loss = ReduceMean(SparseSoftmaxCrossEntropyWithLogits(logits, labels).loss);
  Differentiate({loss}, {w}, {.name = "train"});
  EXPECT_TRUE(EqualsFixture(g, "gradients_of_cross_entropy"));
}

TEST(GradientsTest, Cond) {
  Graph g;
  Output p = Bool(g), x = Pair(g), y = Pair(g, "y");
  Output r = Cond(
      p, [&] { return x + y; }, [&] { return x * 2.0; })[0];
  Differentiate({r}, {x, y});
  EXPECT_TRUE(EqualsFixture(g, "cond"));
}

TEST(GradientsTest, NestedCond) {
  Graph g;
  Output p = Bool(g), q = Bool(g, "q"), x = Pair(g), y = Pair(g, "y");
  auto inner = [&] {
    return Cond(
        q,
        [&] {
          Output product = x * y;
          return OutputList{product, Constant(g, 1.0f)};
        },
        [&] {
          Output same = Identity(y);
          return OutputList{same, Constant(g, 2.0f)};
        });
  };
  OutputList r = Cond(
      p, inner,
      [&] {
        return OutputList{x, Constant(g, 3.0f)};
      },
      "outer");
  Differentiate({r[0]}, {x, y});
  EXPECT_TRUE(EqualsFixture(g, "nested_cond"));
}

TEST(GradientsTest, CondOfVariables) {
  Graph g;
  Output p = Bool(g), x = Pair(g);
  Variable w(g, "w", Tensor::Vector<float>({1, 2}), {.use_resource = false});
  Variable v(g, "v", Tensor::Vector<float>({1, 2}));
  auto assign = [&] {
    Operation assigned = w.Assign(x);
    ControlDependencies after(g, {assigned});
    return Identity(x);
  };
  Output r = Cond(p, assign, [&] { return w * v; })[0];
  Differentiate({r}, {w.handle(), v.handle(), x});
  EXPECT_TRUE(EqualsFixture(g, "cond_of_variables"));
}

}  // namespace
}  // namespace sluice
