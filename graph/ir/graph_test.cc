#include "graph/ir/graph.h"

#include "gmock/gmock.h"
#include "graph/infer/shape_context.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

OP(TestSource, "A tensor from nowhere.")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes(), DT_FLOAT))
    .Attr("mode", OneOf({"a", "b"}, "a"))
    .Attr("n", IntAttr(1).Min(1))
    .Shape(ScalarOutput());
OP(TestSum, "Sum of a list.")
    .Input("x", "N*T")
    .Output("y", "T")
    .Attr("N", IntAttr().Min(1))
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(ScalarOutput());

absl::StatusOr<Node*> Add(Graph& g, std::string name, std::string op,
                          std::vector<Output> inputs = {}, AttrMap attrs = {}) {
  return g.Add({.name = std::move(name),
                .op = std::move(op),
                .inputs = std::move(inputs),
                .attrs = std::move(attrs)});
}

TEST(GraphTest, NamesAreMadeUniqueAsTensorFlowDoes) {
  Graph g;
  EXPECT_EQ(g.UniqueName("a"), "a");
  EXPECT_EQ(g.UniqueName("a"), "a_1");
  EXPECT_EQ(g.UniqueName("A"), "A_2");
  EXPECT_EQ(g.UniqueName("a_1"), "a_1_1");
}

TEST(GraphTest, DefaultsAreFilledInAndTypesFollow) {
  Graph g;
  Node* a = *Add(g, "a", "TestSource");
  EXPECT_EQ(a->AttrOr<std::string>("mode", ""), "a");
  EXPECT_EQ(a->output_type(0), DT_FLOAT);
  Node* s = *Add(g, "s", "TestSum", {a, a}, {{"N", int64_t{2}}, {"T", DT_FLOAT}});
  EXPECT_EQ(s->InputRange(0), std::make_pair(0, 2));
  ASSERT_EQ(a->uses().size(), 2u);
  EXPECT_EQ(std::next(a->uses().begin())->dst_input, 1);
}

TEST(GraphTest, BadNodesAreRefusedWithTheirName) {
  Graph g;
  Node* a = *Add(g, "a", "TestSource");
  EXPECT_EQ(Add(g, "a", "TestSource").status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(Add(g, "x y", "TestSource").status().message(),
              HasSubstr("Node 'x y': Node name contains invalid characters"));
  EXPECT_THAT(Add(g, "x", "TestSum", {}, {{"N", int64_t{0}}, {"T", DT_FLOAT}}).status().message(),
              HasSubstr("Value for attr 'N' of 0 must be at least minimum 1"));
  EXPECT_THAT(Add(g, "x", "TestSum", {a}, {{"N", int64_t{1}}, {"T", DT_DOUBLE}}).status().message(),
              HasSubstr("Input 0 of node x was passed float from a:0 incompatible with expected "
                        "double."));
  EXPECT_THAT(Add(g, "x", "TestSource", {}, {{"mode", std::string("c")}}).status().message(),
              HasSubstr("\"c\" is not in the list of allowed values: \"a\", \"b\""));
  EXPECT_THAT(Add(g, "x", "TestSum", {a}, {{"T", DT_FLOAT}}).status().message(),
              HasSubstr("NodeDef missing attr 'N' from Op<name=TestSum"));
  EXPECT_THAT(
      Add(g, "x", "TestSum", {a}, {{"N", int64_t{1} << 40}, {"T", DT_FLOAT}}).status().message(),
      HasSubstr("at most"));
  EXPECT_EQ(g.num_nodes(), 1);
}

TEST(GraphTest, RemovedNodesLeaveNoEdges) {
  Graph g;
  Node* a = *Add(g, "a", "TestSource");
  Node* s = *Add(g, "s", "TestSum", {a}, {{"N", int64_t{1}}, {"T", DT_FLOAT}});
  g.AddControlEdge(a, s);
  g.AddControlEdge(a, s);
  EXPECT_EQ(s->control_inputs().size(), 1u);
  g.Remove(s);
  EXPECT_TRUE(a->uses().empty());
  EXPECT_TRUE(a->control_outputs().empty());
  EXPECT_EQ(g.Find("s"), nullptr);
}

TEST(GraphTest, EdgesLieInOrderOfCreation) {
  Graph g;
  Node* a = *Add(g, "a", "TestSource");
  Node* b = *Add(g, "b", "TestSource");
  std::vector<Node*> readers;
  for (const char* name : {"r0", "r1", "r2", "r3"}) {
    readers.push_back(*Add(g, name, "TestSum", {a}, {{"N", int64_t{1}}, {"T", DT_FLOAT}}));
    g.AddControlEdge(b, readers.back());
  }
  const auto readers_of = [](const Node* node) {
    std::vector<std::string> names;
    for (const Use& use : node->uses()) names.push_back(use.dst->name());
    return names;
  };
  g.Remove(readers[1]);
  EXPECT_THAT(readers_of(a), ElementsAre("r0", "r2", "r3"));
  EXPECT_THAT(b->control_outputs(), ElementsAre(readers[0], readers[2], readers[3]));
  ASSERT_TRUE(g.UpdateInput(readers[0], 0, b).ok());
  g.RemoveControlEdge(b, readers[3]);
  EXPECT_THAT(readers_of(a), ElementsAre("r2", "r3"));
  EXPECT_THAT(readers_of(b), ElementsAre("r0"));
  EXPECT_THAT(b->control_outputs(), ElementsAre(readers[0], readers[2]));
  // An edge that is removed and added again comes last.
  ASSERT_TRUE(g.UpdateInput(readers[0], 0, a).ok());
  g.AddControlEdge(b, readers[3]);
  EXPECT_THAT(readers_of(a), ElementsAre("r2", "r3", "r0"));
  EXPECT_THAT(b->control_outputs(), ElementsAre(readers[0], readers[2], readers[3]));
  g.Remove(a);
  EXPECT_FALSE(readers[2]->input(0));
  ASSERT_TRUE(g.UpdateInput(readers[2], 0, b).ok());
  g.Remove(readers[3]);
  EXPECT_THAT(readers_of(b), ElementsAre("r2"));
}

TEST(GraphTest, AnInputIsAnOutputThatExists) {
  Graph g;
  Node* a = *Add(g, "a", "TestSource");
  Node* b = *Add(g, "b", "TestSum", {a}, {{"N", int64_t{1}}, {"T", DT_FLOAT}});
  for (const int index : {-1, 1, 1000}) {
    const absl::Status status = g.UpdateInput(b, 0, Output(a, index));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("node 'a' has 1 outputs"));
  }
  EXPECT_EQ(b->input(0), Output(a));
  const absl::Status missing = Add(g, "c", "NoSuchOp", {Output()}).status();
  EXPECT_THAT(std::string(missing.message()), HasSubstr("{{node c}}"));
}

TEST(GraphTest, CyclesAreCounted) {
  Graph g;
  Node* a = *Add(g, "a", "TestSource");
  Node* b = *Add(g, "b", "TestSum", {a}, {{"N", int64_t{1}}, {"T", DT_FLOAT}});
  Node* c = *Add(g, "c", "TestSum", {b}, {{"N", int64_t{1}}, {"T", DT_FLOAT}});
  EXPECT_EQ(TopologicalOrder(g)->size(), 3u);
  ASSERT_TRUE(g.UpdateInput(b, 0, c).ok());
  EXPECT_EQ(TopologicalOrder(g).status().message(), "2 nodes in a cycle");
}

TEST(GraphTest, FinalizedGraphsTakeNothingMore) {
  Graph g;
  g.Finalize();
  EXPECT_EQ(Add(g, "a", "TestSource").status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(GraphTest, TensorNamesAreFound) {
  Graph g;
  Node* a = *Add(g, "scope/a", "TestSource");
  EXPECT_EQ(g.FindOutput("scope/a:0")->node, a);
  EXPECT_EQ(g.FindOutput("^scope/a")->node, a);
  EXPECT_EQ(g.FindOutput("b").status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(g.FindOutput("scope/a:1").status().message(),
              HasSubstr("Output 1 of node scope/a does not exist. Node only has 1 outputs."));
}

TEST(AttrTest, TypesAreShownAsInProtos) {
  EXPECT_EQ(AttrToString(DT_FLOAT), "DT_FLOAT");
  EXPECT_EQ(AttrToString(MakeRefType(DT_FLOAT)), "DT_FLOAT_REF");
  EXPECT_EQ(AttrToString(std::vector<DataType>{DT_INVALID, DT_HALF}), "[DT_INVALID, DT_HALF]");
}

}  // namespace
}  // namespace sluice
