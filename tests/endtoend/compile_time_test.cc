// Compiling a plan takes time linear in the number of nodes, and happens once.
#include <time.h>

#include <algorithm>

#include "executor/session/session.h"
#include "executor/trace/metrics.h"
#include "gtest/gtest.h"
#include "ops/builders/ops.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

// CPU time of this thread, so that other processes do not matter.
double CpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Layers of a deep network, with five nodes each.
Output Layers(Graph& g, Output y, int layers) {
  for (int i = 0; i < layers; ++i) {
    Tensor w(DT_FLOAT, {8, 8});
    for (int k = 0; k < 64; ++k) w.data<float>()[k] = k % 9 == 0 ? 1.0f + 0.01f * (i % 7) : 0.0f;
    y = Relu(BiasAdd(MatMul(y, Constant(g, w)), Constant(g, Tensor(DT_FLOAT, {8}))));
  }
  return y;
}

// The shortest time of a first step, in seconds.
double FirstStep(int layers) {
  double best = 1e9;
  for (int repetition = 0; repetition < 2; ++repetition) {
    Graph g;
    const Output x = Placeholder(g, DT_FLOAT, {4, 8}, "x");
    const Output y = Layers(g, x, layers);
    SessionOptions options;
    options.intra_op_threads = options.inter_op_threads = 1;
    Session session(g, options);
    const double start = CpuSeconds();
    EXPECT_TRUE(session.Run({{x, Tensor(DT_FLOAT, {4, 8})}}, {y}).ok());
    best = std::min(best, CpuSeconds() - start);
  }
  return best;
}

// The first step of 5,000 layers took 17 s (#20843): the time grew with the square of the nodes.
TEST(CompileTime, Row44IsLinearInTheNodes) {
  const double few = FirstStep(200) / 200, many = FirstStep(3200) / 3200;
  // Cache misses make a node of a large graph slower, but not 16 times.
  EXPECT_LT(many, 4 * few) << 1e6 * few << " and " << 1e6 * many << " us a layer";
}

double PlansMade() {
  for (const Metric& metric : Metrics::Global().ReadAll()) {
    if (metric.name == "sluice_plans_total") return metric.value;
  }
  return 0;
}

TEST(CompileTime, Row44NoStepCompilesAgain) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {-1, 8}, "x");
  const Output y = Layers(g, x, 10);
  Session session(g);
  const double before = PlansMade();
  for (int step = 0; step < 20; ++step) {
    // Other shapes do not need another plan either.
    ASSERT_TRUE(session.Run({{x, Tensor(DT_FLOAT, {1 + step % 5, 8})}}, {y}).ok());
  }
  EXPECT_EQ(PlansMade(), before + 1);
  ASSERT_TRUE(session.Run({{x, Tensor(DT_FLOAT, {1, 8})}}, {y}, {y.node}).ok());
  EXPECT_EQ(PlansMade(), before + 2);  // another combination
}

}  // namespace
}  // namespace sluice
