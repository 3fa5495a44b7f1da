#include "graph/build/node_builder.h"

#include "gmock/gmock.h"
#include "graph/build/device_spec.h"
#include "graph/infer/shape_context.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

OP(BuildSource, "A tensor of a given shape.")
    .Output("y", DT_FLOAT)
    .Attr("shape", ShapeAttr(PartialShape()))
    .Shape([](ShapeContext& c) { return c.SetOutput(0, c.attr<PartialShape>("shape")); });
OP(BuildAdd, "Broadcasting sum.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(BroadcastBinary());

Node* Source(Graph& g, PartialShape shape = {}, std::string_view name = "", At at = At::current()) {
  return NodeBuilder(&g, "BuildSource", at).Name(name).Attr("shape", shape).Finish();
}
Node* Sum(Output x, Output y, At at = At::current()) {
  return NodeBuilder(x.graph(), "BuildAdd", at).Input(x).Input(y).Finish();
}

TEST(NodeBuilderTest, TypesAndShapesFollowFromInputs) {
  Graph g;
  Node* z = Sum(Source(g, {-1, 3}), Source(g, {3}));
  ASSERT_NE(z, nullptr) << g.status();
  EXPECT_EQ(z->AttrOr<DataType>("T", DT_INVALID), DT_FLOAT);
  EXPECT_EQ(z->output_shape(0).ToString(), "[?,3]");
  EXPECT_EQ(z->name(), "BuildAdd");
}

TEST(NodeBuilderTest, TheFirstErrorIsKeptWithTheUsersLine) {
  Graph g;
  Node* x = Source(g, {2}, "x");
  Node* y = Source(g, {3}, "y");
  Node* bad = Sum(x, y);
  EXPECT_EQ(bad, nullptr);
  EXPECT_EQ(Sum(Output(bad), x), nullptr);  // invalid without a new error
  EXPECT_THAT(g.status().message(),
              HasSubstr("BuildAdd 'BuildAdd': Dimensions must be equal, but are 2 and 3"));
  EXPECT_THAT(g.status().message(), HasSubstr("node_builder_test.cc:"));
  EXPECT_THAT(g.status().message(), HasSubstr("inputs: 'x:0' [2], 'y:0' [3]"));
}

TEST(ScopesTest, NameScopesNestAndAreMadeUnique) {
  Graph g;
  {
    NameScope a(g, "a");
    EXPECT_EQ(Source(g, {}, "n")->name(), "a/n");
    NameScope b(g, "b");
    EXPECT_EQ(Source(g, {}, "n")->name(), "a/b/n");
    NameScope root(g, "");
    EXPECT_EQ(Source(g, {}, "n")->name(), "n");
  }
  NameScope again(g, "a");
  EXPECT_EQ(again.prefix(), "a_1/");
  NameScope reopened(g, "a/");
  EXPECT_EQ(Source(g, {}, "m")->name(), "a/m");
}

TEST(ScopesTest, InnerDevicesWinFieldByField) {
  Graph g;
  DeviceScope outer(g, "/job:ps/task:1");
  {
    DeviceScope inner(g, "/task:2/cpu:0");
    EXPECT_EQ(Source(g)->device(), "/job:ps/task:2/device:CPU:0");
  }
  EXPECT_EQ(Source(g)->device(), "/job:ps/task:1");
  DeviceScope none = DeviceScope::None(g);
  EXPECT_EQ(Source(g)->device(), "");
}

TEST(ScopesTest, ControlDependenciesSkipWhatIsAlreadyOrdered) {
  Graph g;
  Node* a = Source(g, {}, "a");
  ControlDependencies after(g, {a});
  Node* x = Source(g, {}, "x");
  EXPECT_THAT(x->control_inputs(), ElementsAre(a));
  EXPECT_TRUE(Sum(x, x)->control_inputs().empty());  // x already waits
  ControlDependencies none = ControlDependencies::None(g);
  EXPECT_TRUE(Source(g)->control_inputs().empty());
}

TEST(ScopesTest, ColocationNamesTheGroup) {
  Graph g;
  Node* a = Source(g, {}, "a");
  a->set_device("/job:ps");
  ColocateWith with(g, a);
  Node* b = Source(g, {}, "b");
  EXPECT_THAT(b->colocation(), ElementsAre("a"));
  EXPECT_EQ(b->device(), "/job:ps");
  ColocateWith chained(g, b, /*ignore_existing=*/true);
  EXPECT_THAT(Source(g)->colocation(), ElementsAre("a"));
}

TEST(DeviceSpecTest, PartsInAnyOrderAndLegacyNames) {
  EXPECT_EQ(DeviceSpec::Parse("/gpu:1/job:w/task:3")->ToString(), "/job:w/task:3/device:GPU:1");
  EXPECT_EQ(DeviceSpec::Parse("/device:CPU:*")->ToString(), "/device:CPU:*");
  EXPECT_EQ(DeviceSpec::Parse("/device:cpu:0")->ToString(), "/device:CPU:0");
  EXPECT_EQ(DeviceSpec::Parse("/device:gpu:1")->ToString(), "/device:GPU:1");
  EXPECT_EQ(DeviceSpec::Parse("/device:Cpu:0")->ToString(), "/device:Cpu:0");
  EXPECT_EQ(DeviceSpec::Parse("/")->ToString(), "");
  EXPECT_FALSE(DeviceSpec::Parse("/job:1x").ok());
  EXPECT_FALSE(DeviceSpec::Parse("job:w").ok());
  EXPECT_THAT(DeviceSpec::Parse("/tusk:0").status().message(),
              HasSubstr("Malformed device specification '/tusk:0'"));
}

}  // namespace
}  // namespace sluice
