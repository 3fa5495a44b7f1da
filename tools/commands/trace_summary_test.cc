#include "tools/commands/trace_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/session/session.h"
#include "graph/build/core_ops.h"
#include "graph/build/while.h"
#include "ops/conv/builders.h"
#include "ops/math/builders.h"
#include "ops/matmul/builders.h"
#include "ops/nn/builders.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

NodeExecStats RanAt(const Output& output, int64_t start, int64_t end, const TensorShape& shape) {
  NodeExecStats stats;
  stats.node_name = output.node->name();
  stats.all_start_nanos = start;
  stats.op_end_rel_nanos = stats.all_end_rel_nanos = end - start;
  stats.output = {{0, DT_FLOAT, shape, shape.num_elements() * 4}};
  return stats;
}

TEST(TraceSummary, TellsTimesWorkGapsAndTheLongestPath) {
  Graph g;
  const Output a = Placeholder(g, DT_FLOAT, {40, 160}, "a");
  const Output b = Placeholder(g, DT_FLOAT, {80, 160}, "b");
  const Output product = MatMul(a, b, {.name = "product", .transpose_b = true});
  const Output used = Relu(product, {.name = "used"});
  const Output aside = Neg(a, {.name = "aside"});
  StepStats stats;
  stats.dev_stats.push_back(
      {"/device:CPU:0",
       {RanAt(product, 0, 16'000, {40, 80}), RanAt(aside, 16'000, 20'000, {40, 160}),
        RanAt(used, 24'000, 32'000, {40, 80})}});

  const std::string text = TraceSummary(stats, g);

  EXPECT_THAT(text, HasSubstr("3 nodes in 0.032 ms on 1 thread; no node ran for 0.004 ms of it"));
  // 2 * 40 * 80 * 160 operations; (40 * 160 + 80 * 160 + 40 * 80) * 4 bytes.
  EXPECT_THAT(text, ContainsRegex("MatMul +1 +0.016 +57.1% +64.0 +5.6\n"));
  EXPECT_THAT(text, ContainsRegex("Relu +1 +0.008 +28.6% +3.2\n"));
  EXPECT_THAT(text, ContainsRegex("longest nodes\n +0.016 ms  product \\(MatMul\\) \\[40,80\\]\n"));
  EXPECT_THAT(text,
              ContainsRegex(
                  "critical path: 0.024 ms over 2 nodes\n +0.016 ms  MatMul\n +0.008 ms  Relu\n"));
}

// The first run of a node in a loop may take no time that the clock can measure.
TEST(TraceSummary, ALoopIsAPathWithAnEnd) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {1}, "x");
  const Output merged = core::Merge({x, x});
  const Output next = AddBackEdge(merged, merged);
  StepStats stats;
  stats.dev_stats.push_back({"/device:CPU:0",
                             {RanAt(merged, 0, 0, {1}), RanAt(next, 1'000, 2'000, {1}),
                              RanAt(merged, 2'000, 3'000, {1})}});
  EXPECT_THAT(TraceSummary(stats, g), HasSubstr("over 2 nodes"));
}

TEST(TraceSummary, CountsTheProductsOfConvolutions) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {2, 8, 8, 3}, "x");
  const Output filter = Placeholder(g, DT_FLOAT, {3, 3, 3, 5}, "filter");
  const Output y = Conv2D(x, filter, {1, 1, 1, 1}, "SAME");
  StepStats stats;
  stats.dev_stats.push_back({"/device:CPU:0", {RanAt(y, 0, 1'728, {2, 8, 8, 5})}});
  // 2 * (2 * 8 * 8 * 5) * (3 * 3 * 3) operations.
  EXPECT_THAT(TraceSummary(stats, g), ContainsRegex("Conv2D +1 +0.002 +100.0% +20.0"));
}

TEST(TraceSummary, ReadsWhatASessionTraces) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {-1, 4}, "x");
  const Output y = Relu(MatMul(x, x, {.transpose_b = true}));
  Session session(g);
  RunMetadata metadata;
  const absl::StatusOr<Tensors> out =
      session.Run({{x, Tensor::Of<float>({1, 4}, {1, 2, 3, 4})}}, {y}, {},
                  {.trace = true, .output_partition_graphs = true}, &metadata);
  ASSERT_TRUE(out.ok()) << out.status();
  const std::string text = TraceSummary(*metadata.step_stats, *metadata.partition_graphs[0]);
  EXPECT_THAT(text, ContainsRegex("MatMul +1 "));
  EXPECT_THAT(text, ContainsRegex("critical path: .* over [2-9] nodes"));
}

TEST(TraceSummary, NothingIsToldOfNothing) {
  EXPECT_EQ(TraceSummary({}, Graph()), "no node ran\n");
}

}  // namespace
}  // namespace sluice
