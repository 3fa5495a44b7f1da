// The code in docs/graph.md.

#include "gmock/gmock.h"
#include "graph/build/cond.h"
#include "graph/build/scopes.h"
#include "graph/format/graph_def.h"
#include "graph/format/text.h"
#include "gtest/gtest.h"
#include "ops/builders/ops.h"
#include "ops/random/initializer.h"
#include "ops/state/variable.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

TEST(GraphSamples, Expressions) {
  // [expressions]
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {-1, 3}, "x");
  Variable w(g, "w", {3, 1}, GlorotUniform());
  Output y = Relu(MatMul(x, w) + 1.0f, {.name = "y"});
  // [/expressions]
  ASSERT_TRUE(g.status().ok()) << g.status();
  EXPECT_EQ(y.name(), "y:0");
  EXPECT_EQ(y.shape().ToString(), "[?,1]");
}

TEST(GraphSamples, Scopes) {
  Graph g;
  // [scopes]
  Output count;
  {
    NameScope scope(g, "tower");
    DeviceScope device(g, "/job:ps/task:0");
    Operation ready = NoOp(g, {.name = "ready"});
    ControlDependencies after(g, {ready});
    count = Constant(g, 3, "count");  // tower/count, on /job:ps/task:0, after tower/ready
  }
  // [/scopes]
  ASSERT_TRUE(g.status().ok()) << g.status();
  EXPECT_EQ(count.node->name(), "tower/count");
  EXPECT_EQ(count.node->device(), "/job:ps/task:0");
  EXPECT_EQ(count.node->control_inputs().size(), 1u);
}

TEST(GraphSamples, Branches) {
  Graph g;
  // [branches]
  Output x = Placeholder(g, DT_FLOAT, {}, "x");
  Output size = Cond(
      Less(x, Constant(g, 0.0f)), [&] { return -x; }, [&] { return x; })[0];
  // [/branches]
  ASSERT_TRUE(g.status().ok()) << g.status();
  EXPECT_EQ(size.node->op(), "Merge");
}

TEST(GraphSamples, Mistakes) {
  // [mistakes]
  Graph g;
  Output a = Placeholder(g, DT_FLOAT, {-1, 784}, "a");
  Output b = Placeholder(g, DT_FLOAT, {512, 10}, "b");
  Output c = MatMul(a, b);                  // no abort, no exception: c is an invalid handle
  Output d = Relu(c + b);                   // and so is all that is made from it
  std::string why = g.status().ToString();  // names the node, the shapes, and this file and line
  // [/mistakes]
  EXPECT_FALSE(d);
  EXPECT_THAT(why, HasSubstr("784"));
  EXPECT_THAT(why, HasSubstr("graph_test.cc:"));
}

TEST(GraphSamples, Files) {
  Graph g;
  Constant(g, 1.0f, "one");
  // [files]
  absl::StatusOr<pb::GraphDef> def = ExportGraphDef(g);
  std::string text = PrintText(*def);

  Graph again;
  absl::StatusOr<ImportResult> imported =
      ImportGraphDef(text, again, {.prefix = "copy", .return_outputs = {"one:0"}});
  // [/files]
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(imported->outputs[0].name(), "copy/one:0");
}

}  // namespace
}  // namespace sluice
