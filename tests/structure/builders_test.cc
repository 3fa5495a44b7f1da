// The sugar functions build the same nodes as TensorFlow's Python functions.
#include "gmock/gmock.h"
#include "graph/build/cond.h"
#include "gtest/gtest.h"
#include "ops/builders/ops.h"
#include "ops/state/variable.h"
#include "ops/sugar.h"
#include "tests/structure/graph_lines.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Output Matrix(Graph& g, std::string_view name = "x") {
  return Placeholder(g, DT_FLOAT, {-1, 3}, name);
}

TEST(BuildersTest, OperatorsAreThoseOfPython) {
  Graph g;
  Output x = Matrix(g), y = Matrix(g, "y"), i = Placeholder(g, DT_INT32, {3}, "i");
  x + 1.0;
  1.0 - x;
  x / y;
  -x;
  2 * x;
  x* y;
  x / 2;
  i / 2;
  i % 2;
  i + 1;
  NameScope inner(g, "inner");
  (x - y) * 3.0;
  EXPECT_TRUE(EqualsFixture(g, "operators"));
}

TEST(BuildersTest, ReductionsNameTheirAxes) {
  Graph g;
  Output x = Matrix(g), z = Placeholder(g, DT_FLOAT, PartialShape(), "z");
  ReduceMean(x);
  ReduceMean(x, 0);
  ReduceSum(x, {0, 1}, {.keep_dims = true});
  ReduceMax(x, -1, {.name = "m"});
  ReduceSum(x, {}, {.name = "s"});
  ReduceProd(z);
  EXPECT_TRUE(EqualsFixture(g, "reductions"));
}

TEST(BuildersTest, ShapesAreWrittenAsNumbers) {
  Graph g;
  Output x = Matrix(g), n = Placeholder(g, DT_INT32, PartialShape::Scalar(), "n");
  Output p = Placeholder(g, DT_FLOAT, {2, 3}, "p");
  Reshape(x, {-1});
  Reshape(x, {0, 3}, {.name = "r"});
  Transpose(x, {1, 0});
  Transpose(x);
  Concat({x, x}, 0);
  Split(x, 3, 1);
  EXPECT_EQ(Split(x, {1, 2}, 1)[1].shape().ToString(), "[?,2]");
  Tile(x, {2, 1});
  Pad(x, {{0, 1}, {1, 0}});
  Slice(x, {0, 0}, {1, 2});
  Fill(g, {2, 3}, 1.0);
  Zeros(g, {2, 3});
  Ones(g, {2}, DT_INT64);
  Zeros(g, {100, 100});
  OneHot(n, 4);
  ExpandDims(x, 0);
  Stack({x, x});
  EXPECT_EQ(Unstack(p).size(), 2u);
  Unstack(p, 1, -1, {.name = "us"});
  Gather(x, n, 1);
  ArgMax(x, 1);
  Range(n);
  ShapeOf(x);
  ShapeOf(p);
  SizeOf(x);
  SizeOf(p);
  RankOf(x);
  ElementAt(Placeholder(g, DT_FLOAT, {2}), 0);
  EXPECT_TRUE(EqualsFixture(g, "shapes"));
}

TEST(BuildersTest, RandomOpsCountTheirSeeds) {
  Graph g;
  g.SetRandomSeed(7);
  RandomUniform(g, {2}, -1, 1);
  RandomNormal(g, {2}, 0, 1);
  RandomUniform(g, {2}, -1, 1, {.seed = 3});
  TruncatedNormal(g, {2, 3}, 0, 2);
  EXPECT_TRUE(EqualsFixture(g, "random"));
}

void MakeVariables(Graph& g, bool use_resource) {
  const VariableOptions plain = {.use_resource = use_resource};
  const VariableOptions fixed = {.trainable = false, .use_resource = use_resource};
  Variable(g, "w", {3, 2}, GlorotUniform(), plain);
  Variable(g, "b", {3}, Zeros(), plain);
  Variable(g, "o", {3}, Ones(), fixed);
  Variable(g, "c", PartialShape::Scalar(), ConstantInit(0.5),
           {.dtype = DT_DOUBLE, .use_resource = use_resource});
  Variable(g, "c2", {2, 2}, ConstantInit(0.5), plain);
  Variable(g, "r", {3}, RandomUniformInit(-1, 1, 5), plain);
  Variable(g, "n", {3}, RandomNormalInit(), plain);
  Variable(g, "t", {3, 4}, TruncatedNormalInit(0, .1), plain);
  Variable(g, "gn", {3, 4}, GlorotNormal(), plain);
  Variable(g, "vs", {3, 3, 4, 5}, VarianceScaling(), plain);
  Variable(g, "big", {100, 100}, Zeros(), plain);
  {
    DeviceScope on(g, "/job:ps/task:1");
    Variable(g, "d", Tensor::Vector<float>({1, 2}), plain);
  }
  {
    NameScope scope(g, "s");
    Variable(g, "v", 3.0f, fixed);
  }
  InitializeVariables(g);
  ReportUninitializedVariables(g);
  GlobalStep(g, {.dtype = DT_INT64, .trainable = false, .use_resource = use_resource});
}

TEST(BuildersTest, RefVariablesHaveTensorFlowsNodes) {
  Graph g;
  MakeVariables(g, /*use_resource=*/false);
  EXPECT_TRUE(EqualsFixture(g, "ref_variables"));
}

TEST(BuildersTest, ResourceVariablesHaveTensorFlowsNodes) {
  Graph g;
  MakeVariables(g, /*use_resource=*/true);
  // Sluice puts this node on the variable's device, so that the graph can be placed
  // (docs/differences.md).
  Node* asks = g.Find("report_uninitialized_variables/VarIsInitializedOp_11");
  ASSERT_NE(asks, nullptr);
  EXPECT_EQ(asks->device(), "/job:ps/task:1");
  asks->set_device("");
  EXPECT_TRUE(EqualsFixture(g, "resource_variables"));
}

TEST(BuildersTest, UpdatesOfRefVariablesStayOnTheirDevice) {
  Graph g;
  Variable v;
  {
    DeviceScope ps(g, "/job:ps");
    v = Variable(g, "v", Tensor::Vector<float>({1, 2}), {.use_resource = false});
  }
  DeviceScope worker(g, "/job:worker");
  v + 1.0;
  {
    NameScope scope(g, "AssignAdd");
    v.AssignAdd(Constant(g, {1.0f, 1.0f}, "value"), {.name = scope.prefix()});
  }
  v.AssignAdd(v);
  v.Assign(v * 2.0, {.name = "named"});
  v.IsInitialized();
  EXPECT_TRUE(EqualsFixture(g, "ref_updates"));
}

TEST(BuildersTest, GroupsAreOneADevice) {
  Graph g;
  Output a = Constant(g, 1.0f), b, c;
  Operation d;
  {
    DeviceScope ps(g, "/job:ps");
    b = Constant(g, 2.0f, "b");
    d = NoOp(g);
  }
  {
    DeviceScope w(g, "/job:w");
    c = Constant(g, 3.0f, "c");
  }
  Group(g, {a, b, c, d});
  Group(g, {a}, "g");
  Group(g, {}, "none");
  Group(g, {b, d});
  EXPECT_TRUE(EqualsFixture(g, "groups"));
}

TEST(BuildersTest, CondOfOperationsGivesThePredicate) {
  Graph g;
  Output p = Placeholder(g, DT_BOOL, PartialShape::Scalar(), "p");
  Output x = Placeholder(g, DT_FLOAT, {2}, "x");
  Cond(
      p, [&] { return NoOp(g); }, [&] { return Group(g, {x}); });
  EXPECT_TRUE(EqualsFixture(g, "cond_of_operations"));
}

TEST(VariableTest, CollectionsFindTheVariablesAgain) {
  Graph g;
  Variable w(g, "w", {2}, Zeros());
  Variable b(g, "b", {2}, Zeros(), {.trainable = false, .use_resource = false});
  Variable l(g, "l", {2}, Zeros(), {.trainable = false, .collections = {"local_variables"}});
  EXPECT_THAT(GlobalVariables(g), ElementsAre(w, b));
  EXPECT_THAT(TrainableVariables(g), ElementsAre(w));
  EXPECT_THAT(LocalVariables(g), ElementsAre(l));
  EXPECT_EQ(Variable::Find(g, "b")->snapshot(), b.snapshot());
  EXPECT_FALSE(Variable::Find(g, "b")->is_resource());
  EXPECT_EQ(Variable::Find(g, "x").status().message(), "no variable 'x' in the graph");
  EXPECT_EQ(GlobalStep(g), GlobalStep(g));
  EXPECT_EQ(GlobalStep(g).dtype(), DT_INT64);
}

TEST(VariableTest, IsMadeOutsideOfControlDependencies) {
  Graph g;
  Output x = Matrix(g);
  ControlDependencies after(g, {x});
  Variable w(g, "w", {2}, Zeros());
  EXPECT_TRUE(w.initializer().node->control_inputs().empty());
  EXPECT_EQ(w.Read().node->control_inputs().size(), 1u);
}

TEST(VariableTest, AnInitializerNeedsAShape) {
  Graph g;
  Variable w(g, "w", {-1, 2}, Zeros());
  EXPECT_FALSE(w);
  EXPECT_EQ(w.name(), "");
  EXPECT_FALSE(w + 1.0f);
  EXPECT_FALSE(w.IsInitialized());
  EXPECT_THAT(g.status().message(),
              HasSubstr("variable 'w': an initializer needs a fully defined shape, got [?,2]"));
}

TEST(BuildersTest, ErrorsNameTheLineOfTheOperator) {
  Graph g;
  Output i = Placeholder(g, DT_INT32, {2}, "i");
  i + 1.5;
  EXPECT_THAT(g.status().message(), HasSubstr("the number 1.5 cannot be a tensor of type int32"));
  EXPECT_THAT(g.status().message(), HasSubstr("builders_test.cc:"));
}

TEST(ConstantTest, NumbersMayBeLargerThanInt64) {
  const uint64_t most = UINT64_MAX;
  EXPECT_EQ(Number(most).ToString(), "18446744073709551615");
  EXPECT_EQ(Number(most).As(DT_UINT64)->scalar<uint64_t>(), most);
  EXPECT_EQ(Number(most).As(DT_DOUBLE)->scalar<double>(), 0x1p64);
  for (const DataType type : {DT_INT64, DT_UINT32, DT_INT8, DT_BOOL}) {
    EXPECT_THAT(Number(most).As(type).status().message(),
                HasSubstr("the number 18446744073709551615 cannot be a tensor of type"));
  }
  EXPECT_EQ(Number(uint64_t{1} << 62).As(DT_INT64)->scalar<int64_t>(), int64_t{1} << 62);
  EXPECT_EQ(Number(-1).As(DT_DOUBLE)->scalar<double>(), -1);
  EXPECT_FALSE(Number(-1).As(DT_UINT64).ok());
}

TEST(ConstantTest, TypesAndShapesFollowTheValue) {
  Graph g;
  EXPECT_EQ(Constant(g, 1).dtype(), DT_INT32);
  EXPECT_EQ(Constant(g, 1.0).dtype(), DT_DOUBLE);
  EXPECT_EQ(Constant(g, true).dtype(), DT_BOOL);
  EXPECT_EQ(Constant(g, "text").dtype(), DT_STRING);
  EXPECT_EQ(Constant(g, int64_t{1} << 40).dtype(), DT_INT64);
  EXPECT_EQ(Constant(g, 1, DT_HALF).dtype(), DT_HALF);
  EXPECT_EQ(Constant(g, {"a", "b"}).shape().ToString(), "[2]");
  EXPECT_EQ(Constant(g, {{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}}).shape().ToString(), "[2,3]");
  EXPECT_EQ(Constant(g, std::vector<bool>{true, false}).dtype(), DT_BOOL);
  EXPECT_TRUE(g.status().ok()) << g.status();
  EXPECT_FALSE(Constant(g, {{1, 2}, {3}}, "ragged"));
  EXPECT_THAT(g.status().message(), HasSubstr("Const 'ragged': its rows differ in length"));
}

}  // namespace
}  // namespace sluice
