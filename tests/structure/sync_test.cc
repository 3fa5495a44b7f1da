// SyncReplicasOptimizer builds the same nodes as TensorFlow's: ops, edges, control edges, devices,
// names and shared names. (Attributes that begin with '_' are Sluice's own.)
#include "gmock/gmock.h"
#include "graph/build/scopes.h"
#include "gtest/gtest.h"
#include "ops/builders/ops.h"
#include "ops/sugar.h"
#include "tests/structure/graph_lines.h"
#include "training/average/exponential_moving_average.h"
#include "training/optimizer/gradient_descent.h"
#include "training/optimizer/momentum.h"
#include "training/sync/sync_replicas_optimizer.h"

namespace sluice {
namespace {

const VariableOptions kRef = {.use_resource = false};

Variable RefGlobalStep(Graph& g) {
  return GlobalStep(g, {.dtype = DT_INT64, .trainable = false, .use_resource = false});
}

Variable Table(Graph& g, std::string_view name, const VariableOptions& options = kRef) {
  return Variable(g, name, Tensor::Of<float>({4, 2}, {0, 0, 0, 0, 0, 0, 0, 0}), options);
}

IndexedSlices Slices(Graph& g, const std::string& prefix, DataType indices) {
  return {.values = Placeholder(g, DT_FLOAT, {-1, 2}, prefix + "values"),
          .indices = Placeholder(g, indices, {-1}, prefix + "indices"),
          .dense_shape = {}};
}

testing::AssertionResult EqualsTensorFlows(const Graph& g, std::string_view title) {
  const std::vector<std::string> expected = FixtureLines(title);
  if (!g.status().ok()) return testing::AssertionFailure() << g.status();
  const std::vector<std::string> got = GraphLines(g);
  testing::StringMatchResultListener why;
  if (!expected.empty() &&
      testing::ExplainMatchResult(testing::ElementsAreArray(expected), got, &why)) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << title << ": " << why.str();
}

void Synchronize(SyncReplicasOptimizer optimizer, const GradientsAndVariables& pairs,
                 const Variable& step, int tokens = -1) {
  absl::StatusOr<Operation> train = optimizer.ApplyGradients(pairs, {.global_step = &step});
  ASSERT_TRUE(train.ok()) << train.status();
  absl::StatusOr<Operation> init = optimizer.InitTokensOp(tokens);
  ASSERT_TRUE(init.ok()) << init.status();
}

TEST(SyncReplicasGraph, OfDenseGradients) {
  Graph g;
  Variable step = RefGlobalStep(g);
  Variable w(g, "w", Tensor::Vector<float>({1, 2}), kRef);
  Variable v(g, "v", 3.0f);
  const GradientsAndVariables pairs = {{Placeholder(g, DT_FLOAT, {2}, "gw"), w},
                                       {Placeholder(g, DT_FLOAT, PartialShape::Scalar(), "gv"), v}};
  Synchronize({GradientDescent({.learning_rate = 0.1f}),
               {.replicas_to_aggregate = 3, .total_num_replicas = 4}},
              pairs, step);
  EXPECT_TRUE(EqualsTensorFlows(g, "sync_replicas_dense"));
}

TEST(SyncReplicasGraph, OfSparseGradients) {
  Graph g;
  Variable step = RefGlobalStep(g);
  Variable e = Table(g, "e");
  Variable f = Table(g, "f", {});
  IndexedSlices a = Slices(g, "a_", DT_INT32);
  a.dense_shape = Constant(g, Tensor::Vector<int32_t>({4, 2}));
  const IndexedSlices b = Slices(g, "b_", DT_INT64);
  Synchronize({GradientDescent({.learning_rate = 0.1f}), {.replicas_to_aggregate = 2}},
              {{a, e}, {b, f}}, step, 0);
  EXPECT_TRUE(EqualsTensorFlows(g, "sync_replicas_sparse"));
}

TEST(SyncReplicasGraph, OnDevicesWithDenseSparseAndNoGradients) {
  Graph g;
  Variable step, w, e, u;
  {
    DeviceScope on(g, "/job:ps/task:0");
    step = RefGlobalStep(g);
    w = Variable(g, "w", Tensor::Vector<float>({1, 2}), kRef);
  }
  {
    DeviceScope on(g, "/job:ps/task:1");
    e = Table(g, "e");
    u = Variable(g, "u", 5.0f, kRef);
  }
  DeviceScope on(g, "/job:worker/task:1");
  IndexedSlices rows = Slices(g, "", DT_INT64);
  rows.dense_shape = Constant(g, Tensor::Vector<int64_t>({4, 2}));
  const GradientsAndVariables pairs = {
      {Placeholder(g, DT_FLOAT, {2}, "gw"), w}, {Grad(), u}, {rows, e}};
  Synchronize({Momentum({.learning_rate = 0.1f, .momentum = 0.9f}),
               {.replicas_to_aggregate = 5, .total_num_replicas = 3}},
              pairs, step, 2);
  EXPECT_TRUE(EqualsTensorFlows(g, "sync_replicas_on_devices"));
}

TEST(SyncReplicasGraph, OfMinimize) {
  Graph g;
  Variable step = RefGlobalStep(g);
  Output x = Placeholder(g, DT_FLOAT, {-1, 3}, "x");
  Variable w(g, "w", Tensor::Of<float>({3, 1}, {1, 2, 3}), kRef);
  Variable unreached(g, "unreached", Tensor::Vector<float>({0.5}), kRef);
  Output loss = ReduceMean(Square(MatMul(x, w)));
  SyncReplicasOptimizer optimizer(Momentum({.learning_rate = 0.1f, .momentum = 0.9f}),
                                  {.replicas_to_aggregate = 1});
  optimizer.Minimize(loss, {.global_step = &step});
  EXPECT_TRUE(EqualsTensorFlows(g, "sync_replicas_minimize"));
}

TEST(SyncReplicasGraph, WithMovingAverages) {
  Graph g;
  Variable step = RefGlobalStep(g);
  Variable w(g, "w", Tensor::Vector<float>({1, 2}), kRef);
  ExponentialMovingAverage average(0.9f);
  SyncReplicasOptimizer optimizer(GradientDescent({.learning_rate = 0.1f}),
                                  {.replicas_to_aggregate = 2,
                                   .total_num_replicas = 2,
                                   .variable_averages = &average,
                                   .variables_to_average = {w}});
  const absl::StatusOr<Operation> train =
      optimizer.ApplyGradients({{Placeholder(g, DT_FLOAT, {2}, "gw"), w}}, {.global_step = &step});
  ASSERT_TRUE(train.ok()) << train.status();
  EXPECT_TRUE(EqualsTensorFlows(g, "sync_replicas_averages"));
}

}  // namespace
}  // namespace sluice
