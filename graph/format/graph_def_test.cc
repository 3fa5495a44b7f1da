#include "graph/format/graph_def.h"

#include "gmock/gmock.h"
#include "graph/format/text.h"
#include "graph/ir/unregistered_op.h"
#include "graph/status.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A loop: Enter -> Merge -> AddV2 -> NextIteration -> Merge; Exit.
constexpr char kLoop[] = R"(
  node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
  node { name: "next" op: "NextIteration" input: "add" attr { key: "T" value { type: DT_FLOAT } } }
  node { name: "enter" op: "Enter" input: "x" attr { key: "T" value { type: DT_FLOAT } }
         attr { key: "frame_name" value { s: "f" } } }
  node { name: "merge" op: "Merge" input: "enter" input: "next"
         attr { key: "N" value { i: 2 } } attr { key: "T" value { type: DT_FLOAT } } }
  node { name: "add" op: "AddV2" input: "merge" input: "merge" input: "^merge" attr { key: "T" value { type: DT_FLOAT } } }
  node { name: "exit" op: "Exit" input: "merge" attr { key: "T" value { type: DT_FLOAT } } }
  versions { producer: 27 min_consumer: 12 bad_consumers: 5 }
)";

pb::GraphDef Def(std::string_view text) {
  pb::GraphDef def;
  absl::Status status = ParseText(text, &def);
  EXPECT_TRUE(status.ok()) << status;
  return def;
}

TEST(GraphDef, NodesEdgesAttributesAndDevicesComeIn) {
  Graph g;
  auto imported = ImportGraphDef(R"(
    node { name: "a" op: "Placeholder" device: "/cpu:0"
           attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "shape" value { shape { dim { size: 2 } dim { size: -1 } } } } }
    node { name: "s/sum" op: "Sum" input: "a" input: "^n"
           attr { key: "_class" value { list { s: "loc:@a" } } } }
    node { name: "n" op: "NoOp" })",
                                 g);
  ASSERT_TRUE(imported.ok()) << imported.status();
  Node* sum = g.Find("s/sum");
  ASSERT_NE(sum, nullptr);
  EXPECT_EQ(sum->input(0).name(), "a:0");
  EXPECT_EQ(sum->input(0).shape().ToString(), "[2,?]");
  EXPECT_THAT(sum->control_inputs(), ElementsAre(g.Find("n")));
  EXPECT_THAT(sum->colocation(), ElementsAre("a"));
  EXPECT_EQ(sum->AttrOr("keep_dims", true), false);  // defaults are filled in
  EXPECT_EQ(sum->AttrOr("T", DT_INVALID), DT_FLOAT);
  EXPECT_EQ(g.Find("a")->device(), "/cpu:0");
  EXPECT_EQ(imported->added.size(), 3u);
}

// A graph was rejected because of a node that no step ran, such as a PyFunc.
TEST(GraphDef, NodesOfUnknownOpsAreKeptAsTheyAre) {
  constexpr char kText[] = R"(
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "f" op: "Foreign" input: "x" device: "/cpu:0" attr { key: "note" value { s: "a" } } }
    node { name: "g" op: "Foreign" input: "f:2" }
    node { name: "y" op: "Identity" input: "f:1" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "z" op: "Identity" input: "g" attr { key: "T" value { type: DT_INT32 } } })";
  Graph g;
  auto imported = ImportGraphDef(kText, g);
  ASSERT_TRUE(imported.ok()) << imported.status();
  const Node& f = *g.Find("f");
  EXPECT_FALSE(IsRegistered(f));
  ASSERT_EQ(f.num_outputs(), 3);
  EXPECT_EQ(f.output_type(0), DT_INVALID);
  EXPECT_EQ(f.output_type(1), DT_FLOAT);
  EXPECT_EQ(g.Find("g")->output_type(0), DT_INT32);
  EXPECT_FALSE(g.Find("y")->output_shape(0).rank_known());
  EXPECT_THAT(std::string(UnregisteredOpError(f).message()),
              AllOf(HasSubstr("Op type not registered 'Foreign'"), HasSubstr("{{node f}}")));
  const auto exported = ExportGraphDef(g);
  ASSERT_TRUE(exported.ok()) << exported.status();
  EXPECT_EQ(exported->node(1).attr().at("note").s(), "a");
  EXPECT_THAT(exported->node(2).input(), ElementsAre("f:2"));
  const auto clash = ImportGraphDef(
      "node { name: 'w' op: 'Identity' input: 'f:1' attr { key: 'T' value { type: DT_INT32 } } }",
      g, {.input_map = {{"f:1", Output(g.Find("f"), 1)}}});
  EXPECT_THAT(std::string(clash.status().message()),
              HasSubstr("was passed float from f:1 incompatible with expected int32"));
}

TEST(GraphDef, LoopsAndBackEdgesComeInAndGoOut) {
  Graph g;
  ASSERT_TRUE(ImportGraphDef(kLoop, g).ok());
  EXPECT_EQ(g.Find("merge")->input(1).name(), "next:0");
  EXPECT_EQ(g.versions().producer, 27);
  auto def = ExportGraphDef(g);
  ASSERT_TRUE(def.ok());
  EXPECT_EQ(def->versions().min_consumer(), 12);
  Graph again;
  ASSERT_TRUE(ImportGraphDef(*def, again).ok());
  auto twice = ExportGraphDef(again);
  ASSERT_TRUE(twice.ok());
  EXPECT_EQ(PrintText(*def), PrintText(*twice));
}

TEST(GraphDef, BinaryAndTextAreTheSame) {
  const pb::GraphDef def = Def(kLoop);
  Graph from_binary, from_text;
  ASSERT_TRUE(ImportGraphDef(def.SerializeAsString(), from_binary).ok());
  ASSERT_TRUE(ImportGraphDef(PrintText(def), from_text).ok());
  EXPECT_EQ(PrintText(*ExportGraphDef(from_binary)), PrintText(*ExportGraphDef(from_text)));
  EXPECT_EQ(from_text.num_nodes(), 6);
}

TEST(GraphDef, DefaultAttributesAreStrippedOnRequest) {
  Graph g;
  ASSERT_TRUE(ImportGraphDef(R"(node { name: "n" op: "Attributes"
      attr { key: "i" value { i: 3 } } attr { key: "_private" value { b: true } } })",
                             g)
                  .ok());
  auto full = ExportGraphDef(g);
  ASSERT_TRUE(full.ok());
  EXPECT_EQ(full->node(0).attr_size(), 14);
  EXPECT_TRUE(full->node(0).attr().at("strings").has_list());
  auto stripped = ExportGraphDef(g, {.strip_default_attrs = true});
  ASSERT_TRUE(stripped.ok());
  EXPECT_EQ(stripped->node(0).attr_size(), 2);
  Graph again;
  ASSERT_TRUE(ImportGraphDef(*stripped, again).ok());
  EXPECT_EQ(PrintText(*ExportGraphDef(again)), PrintText(*full));
}

TEST(GraphDef, EveryKindOfAttributePassesThrough) {
  const char* text = R"(node { name: "n" op: "NoOp"
    attr { key: "_empty" value { } }
    attr { key: "_s" value { s: "\001" } }
    attr { key: "_placeholder" value { placeholder: "T" } }
    attr { key: "_tensor" value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 4 } } }
    attr { key: "_func" value { func { name: "f" attr { key: "x" value { list { f: 1.5 f: 2 } } } } } }
    attr { key: "_funcs" value { list { func { name: "f" } } } }
    attr { key: "_tensors" value { list { tensor { dtype: DT_BOOL tensor_shape { } bool_val: true } } } }
    attr { key: "_shapes" value { list { shape { unknown_rank: true } shape { } } } }
    attr { key: "_bools" value { list { b: false b: true } } } } versions { producer: 2474 })";
  Graph g;
  auto imported = ImportGraphDef(text, g);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(PrintText(*ExportGraphDef(g)), PrintText(Def(text)));
}

TEST(GraphDef, FunctionLibraryIsKept) {
  const char* text = R"(library { function { signature { name: "f" } }
                                  gradient { function_name: "f" gradient_func: "g" } })";
  Graph g;
  ASSERT_TRUE(ImportGraphDef(text, g).ok());
  EXPECT_EQ(ExportGraphDef(g)->library().DebugString(), Def(text).library().DebugString());
  // A second graph adds its functions. The same function twice counts once.
  ASSERT_TRUE(ImportGraphDef("library { function { signature { name: 'h' } } "
                             "function { signature { name: 'f' } } }",
                             g)
                  .ok());
  EXPECT_EQ(ExportGraphDef(g)->library().function_size(), 2);
  EXPECT_THAT(ImportGraphDef("library { function { signature { name: 'h' summary: 'other' } } }", g)
                  .status()
                  .message(),
              HasSubstr("Cannot add function 'h'"));
}

// A second function with the same name and the same number of bytes was ignored, and calls ran the
// first one.
TEST(GraphDef, FunctionsOfOneNameAreComparedByContent) {
  const auto library = [](std::string_view nodes) {
    return StrCat("library { function { signature { name: 'f' } ", nodes, " } }");
  };
  const char* const one = R"(
    node_def { name: 'a' op: 'NoOp' attr { key: 'x' value { i: 1 } } attr { key: 'y' value { i: 2 } } }
    node_def { name: 'b' op: 'NoOp' })";
  const char* const reordered = R"(
    node_def { name: 'b' op: 'NoOp' experimental_debug_info { original_node_names: 'c' } }
    node_def { name: 'a' op: 'NoOp' attr { key: 'y' value { i: 2 } } attr { key: 'x' value { i: 1 } } })";
  const char* const other = R"(
    node_def { name: 'a' op: 'NoOp' attr { key: 'x' value { i: 1 } } attr { key: 'y' value { i: 3 } } }
    node_def { name: 'b' op: 'NoOp' })";
  Graph g;
  ASSERT_TRUE(ImportGraphDef(library(one), g).ok());
  EXPECT_TRUE(ImportGraphDef(library(reordered), g).ok());
  EXPECT_EQ(ImportGraphDef(library(other), g).status().message(),
            "Cannot add function 'f' because a different function with the same name already "
            "exists.");
  EXPECT_EQ(
      ImportGraphDef("library { function { signature { name: 'Sum' } } }", g).status().message(),
      "Cannot add function 'Sum' because an op with the same name already exists.");
}

TEST(GraphDef, AFunctionHasOneGradient) {
  Graph g;
  const char* const text = "library { gradient { function_name: 'f' gradient_func: 'g' } }";
  ASSERT_TRUE(ImportGraphDef(text, g).ok());
  ASSERT_TRUE(ImportGraphDef(text, g).ok());
  EXPECT_EQ(ExportGraphDef(g)->library().gradient_size(), 1);
  EXPECT_EQ(
      ImportGraphDef("library { gradient { function_name: 'f' gradient_func: 'h' } }", g)
          .status()
          .message(),
      "Cannot assign gradient function 'h' to 'f' because it already has gradient function 'g'");
}

TEST(GraphDef, PrefixInputMapAndReturns) {
  Graph g;
  ASSERT_TRUE(ImportGraphDef(kLoop, g).ok());
  ImportOptions options;
  options.prefix = "p";
  options.input_map["x"] = Output(g.Find("exit"));
  options.input_map["unused:1"] = Output(g.Find("exit"));
  options.return_outputs = {"exit", "merge:1", "x"};
  options.return_nodes = {"add"};
  auto imported = ImportGraphDef(kLoop, g, options);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(g.Find("p/enter")->input(0).name(), "exit:0");
  EXPECT_EQ(imported->outputs[0].name(), "p/exit:0");
  EXPECT_EQ(imported->outputs[1].name(), "p/merge:1");
  EXPECT_EQ(imported->outputs[2].name(), "exit:0");
  EXPECT_EQ(imported->nodes[0]->name(), "p/add");
  EXPECT_THAT(imported->unused_input_map_keys, ElementsAre("unused:1"));
}

TEST(GraphDef, ReturnedOutputsAreReplacedUnderEitherName) {
  for (const std::string key : {"x", "x:0"}) {
    Graph g;
    ASSERT_TRUE(ImportGraphDef(kLoop, g).ok());
    const Output exit(g.Find("exit"));
    auto imported = ImportGraphDef(
        kLoop, g, {.prefix = "p", .input_map = {{key, exit}}, .return_outputs = {"x", "x:0"}});
    ASSERT_TRUE(imported.ok()) << imported.status();
    EXPECT_THAT(imported->outputs, ElementsAre(exit, exit)) << key;
  }
}

TEST(GraphDef, OnlyReturnedOutputsThatAreNotReplacedMustExist) {
  Graph g;
  ASSERT_TRUE(ImportGraphDef(kLoop, g).ok());
  const Output exit(g.Find("exit"));
  auto imported = ImportGraphDef(
      kLoop, g, {.prefix = "p", .input_map = {{"x:1", exit}}, .return_outputs = {"x:1"}});
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(imported->outputs[0], exit);
  EXPECT_EQ(ImportGraphDef(kLoop, g, {.prefix = "q", .return_outputs = {"x:1"}}).status().message(),
            "Invalid return output 1 of node 'x', which has 1 output(s)");
}

TEST(GraphDef, ColocationFollowsThePrefix) {
  Graph g;
  ASSERT_TRUE(ImportGraphDef(R"(node { name: "a" op: "NoOp" }
      node { name: "b" op: "NoOp" attr { key: "_class" value { list { s: "loc:@a" } } } })",
                             g, {.prefix = "p"})
                  .ok());
  EXPECT_THAT(g.Find("p/b")->colocation(), ElementsAre("p/a"));
}

TEST(GraphDef, OutputShapesAreCheckedAndDropped) {
  const std::string head =
      R"(node { name: "c" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
      attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } } } } }
      attr { key: "_output_shapes" value { list { shape { dim { size: )";
  Graph g;
  ASSERT_TRUE(ImportGraphDef(head + "2 } } } } } }", g).ok());
  EXPECT_EQ(g.Find("c")->attrs().count("_output_shapes"), 0u);
  Graph other;
  EXPECT_THAT(ImportGraphDef(head + "3 } } } } } }", other).status().message(),
              HasSubstr("Node 'c' has an _output_shapes attribute inconsistent"));
}

TEST(GraphDef, SecondImportKeepsTheNarrowerVersions) {
  Graph g;
  ASSERT_TRUE(ImportGraphDef("node { name: 'a' op: 'NoOp' } versions { producer: 30 }", g).ok());
  ASSERT_TRUE(ImportGraphDef("node { name: 'b' op: 'NoOp' } "
                             "versions { producer: 20 min_consumer: 3 bad_consumers: 7 }",
                             g)
                  .ok());
  EXPECT_EQ(g.versions().producer, 20);
  EXPECT_EQ(g.versions().min_consumer, 3);
  EXPECT_THAT(g.versions().bad_consumers, ElementsAre(7));
}

TEST(GraphDef, ControlDependenciesGoToNodesWithoutInputs) {
  Graph g;
  ASSERT_TRUE(ImportGraphDef("node { name: 'first' op: 'NoOp' }", g).ok());
  ImportOptions options;
  options.control_dependencies = {g.Find("first")};
  ASSERT_TRUE(
      ImportGraphDef("node { name: 'a' op: 'NoOp' } node { name: 'b' op: 'NoOp' input: '^a' }", g,
                     options)
          .ok());
  EXPECT_THAT(g.Find("a")->control_inputs(), ElementsAre(g.Find("first")));
  EXPECT_THAT(g.Find("b")->control_inputs(), ElementsAre(g.Find("a")));
}

}  // namespace
}  // namespace sluice
