// Malicious graphs: each is rejected with an error that names the node, and the target graph is
// unchanged.
#include "gmock/gmock.h"
#include "graph/format/graph_def.h"
#include "graph/format/text.h"
#include "graph/strings.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

constexpr char kFloat[] = "attr { key: 'T' value { type: DT_FLOAT } }";

// The result of ImportGraphDef for nodes in text format, as "CODE: message".
std::string Refusal(const std::string& text, const ImportOptions& options = {}) {
  Graph g;
  absl::StatusOr<ImportResult> imported = ImportGraphDef(text, g, options);
  EXPECT_EQ(g.num_nodes(), 0) << "something was left behind";
  return imported.ok() ? "OK" : imported.status().ToString(absl::StatusToStringMode::kDefault);
}

std::string Placeholder(const std::string& name) {
  return StrCat("node { name: '", name,
                "' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }");
}

TEST(HostileGraph, Names) {
  EXPECT_EQ(Refusal("node { name: 'a b' op: 'NoOp' }"),
            "INVALID_ARGUMENT: Node 'a b': Node name contains invalid characters");
  EXPECT_EQ(Refusal("node { name: '' op: 'NoOp' }"),
            "INVALID_ARGUMENT: Node '': Node name contains invalid characters");
  EXPECT_EQ(Refusal("node { name: '_a' op: 'NoOp' }"),
            "INVALID_ARGUMENT: Node '_a': Node name contains invalid characters");
  EXPECT_EQ(Refusal("node { name: 'a' op: 'NoOp' } node { name: 'a' op: 'NoOp' }"),
            "INVALID_ARGUMENT: Node 'a' is not unique");
  EXPECT_EQ(Refusal("node { name: 'a' }"),
            "INVALID_ARGUMENT: Node 'a' does not specify an operation");
  Graph g;
  ASSERT_TRUE(ImportGraphDef("node { name: 'a' op: 'NoOp' }", g).ok());
  EXPECT_EQ(ImportGraphDef("node { name: 'a' op: 'NoOp' }", g).status().message(),
            "Node name 'a' already exists in the Graph");
}

TEST(HostileGraph, UnknownOpsNodesAndAttributes) {
  EXPECT_EQ(Refusal(StrCat("node { name: 'a' op: 'Nonsense' } node { name: 'b' op: 'Identity' "
                           "input: 'a:300' ",
                           kFloat, " }")),
            "INVALID_ARGUMENT: Input 0 of node b is a:300, but a node whose op is not registered "
            "has at most 256 outputs; NodeDef: {{node b}} = Identity");
  EXPECT_EQ(Refusal(StrCat("node { name: 'a' op: 'Identity' input: 'b' ", kFloat, " }")),
            "INVALID_ARGUMENT: Node 'a': Unknown input node 'b'");
  EXPECT_EQ(Refusal("node { name: 'a' op: 'NoOp' input: '^b' }"),
            "INVALID_ARGUMENT: Node 'a': Unknown input node '^b'");
  EXPECT_EQ(
      Refusal("node { name: 'a' op: 'NoOp' attr { key: 'x' value { i: 1 } } }"),
      "INVALID_ARGUMENT: NodeDef mentions attr 'x' not in Op<name=NoOp>; NodeDef: {{node a}}");
  EXPECT_THAT(
      Refusal(
          "node { name: 'a' op: 'NoOp' attr { key: '_class' value { list { s: 'loc:@b' } } } }"),
      HasSubstr("Node 'a' expects to be colocated with unknown node 'b'"));
  EXPECT_THAT(Refusal(Placeholder("b") + "node { name: 'a' op: 'Identity' input: 'b' }"),
              HasSubstr("NodeDef missing attr 'T' from Op<name=Identity"));
}

TEST(HostileGraph, AttributesThatNewerWritersAddAreDropped) {
  Graph g;
  ASSERT_TRUE(ImportGraphDef("node { name: 'a' op: 'NoOp' attr { key: 'x' value { i: 1 } } } "
                             "versions { producer: 999999 }",
                             g)
                  .ok());
  EXPECT_EQ(g.Find("a")->attrs().count("x"), 0u);
}

TEST(HostileGraph, Edges) {
  const std::string x = Placeholder("x");
  EXPECT_EQ(
      Refusal(x + "node { name: 'a' op: 'NoOp' input: '^x' input: 'x' }"),
      "INVALID_ARGUMENT: Node 'a': Control dependencies must come after regular dependencies");
  EXPECT_THAT(Refusal(StrCat(x, "node { name: 'a' op: 'Identity' input: 'x:1' ", kFloat, " }")),
              HasSubstr("Output 1 of node x does not exist. Node only has 1 outputs."));
  EXPECT_THAT(Refusal(StrCat(x, "node { name: 'a' op: 'Identity' input: 'x:01' ", kFloat, " }")),
              HasSubstr("Unknown input node 'x:01'"));
  EXPECT_THAT(Refusal(StrCat(x, "node { name: 'a' op: 'Identity' input: 'x:99999999999999999999' ",
                             kFloat, " }")),
              HasSubstr("Unknown input node"));
  EXPECT_THAT(
      Refusal(StrCat(x, "node { name: 'a' op: 'Identity' input: 'x' input: 'x' ", kFloat, " }")),
      AllOf(HasSubstr("expected 1 inputs, got 2"), HasSubstr("{{node a}}")));
  EXPECT_THAT(
      Refusal(x + "node { name: 'a' op: 'Identity' input: 'x' attr { key: 'T' value { type: "
                  "DT_INT32 } } }"),
      HasSubstr("Input 0 of node a was passed float from x:0 incompatible with expected int32."));
}

TEST(HostileGraph, Cycles) {
  EXPECT_THAT(
      Refusal(
          "node { name: 'a' op: 'NoOp' input: '^b' } node { name: 'b' op: 'NoOp' input: '^a' }"),
      HasSubstr("INVALID_ARGUMENT: 2 nodes in a cycle: {{node a}}, {{node b}}"));
  EXPECT_THAT(Refusal("node { name: 'a' op: 'NoOp' input: '^a' }"),
              HasSubstr("1 nodes in a cycle"));
  // A back edge that does not go from a NextIteration to a Merge.
  EXPECT_THAT(Refusal(StrCat("node { name: 'a' op: 'Identity' input: 'n' ", kFloat, " }",
                             "node { name: 'n' op: 'NextIteration' input: 'a' ", kFloat, " }")),
              HasSubstr("2 nodes in a cycle"));
  // A Merge of two next iterations, with a control input that comes after it.
  EXPECT_THAT(
      Refusal(StrCat(
          Placeholder("x"),
          "node { name: 'm' op: 'Merge' input: 'x' input: 'x' input: 'n' input: '^late' ", kFloat,
          " attr { key: 'N' value { i: 3 } } }", "node { name: 'n' op: 'NextIteration' input: 'm' ",
          kFloat, " }", "node { name: 'late' op: 'Identity' input: 'm' ", kFloat, " }")),
      HasSubstr("3 nodes in a cycle"));
}

TEST(HostileGraph, Counts) {
  const std::string x = Placeholder("x");
  for (const char* n : {"1099511627776", "9223372036854775807", "-1", "2"}) {
    const std::string sum = Refusal(StrCat(x, "node { name: 'a' op: 'AddN' input: 'x' ", kFloat,
                                           " attr { key: 'N' value { i: ", n, " } } }"));
    EXPECT_THAT(sum, AllOf(HasSubstr("INVALID_ARGUMENT"), HasSubstr("{{node a}}"))) << n;
  }
  EXPECT_THAT(
      Refusal(StrCat(x,
                     "node { name: 'd' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } } "
                     "attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape {} } } } }"
                     "node { name: 'a' op: 'Split' input: 'd' input: 'x' ",
                     kFloat, " attr { key: 'num_split' value { i: 1099511627776 } } }")),
      AllOf(HasSubstr("1099511627776"), HasSubstr("{{node a}}")));
}

TEST(HostileGraph, Tensors) {
  auto constant = [](const std::string& tensor) {
    return StrCat(
        "node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } "
        "attr { key: 'value' value { tensor { dtype: DT_FLOAT ",
        tensor, " } } } }");
  };
  EXPECT_THAT(
      Refusal(constant("tensor_shape { dim { size: 4611686018427387904 } } float_val: 1")),
      HasSubstr("Node 'c': attr 'value': tensor of type float and shape [4611686018427387904]"));
  EXPECT_THAT(Refusal(constant("tensor_shape { dim { size: 2 } } tensor_content: 'x'")),
              HasSubstr("Node 'c': attr 'value': tensor_content has 1 bytes, expected 8"));
  ImportOptions small;
  small.limits.max_total_bytes = 1000;
  std::string many;
  for (int i = 0; i < 3; ++i) {
    many += constant("tensor_shape { dim { size: 100 } }");
    many.replace(many.rfind("'c'"), 3, StrCat("'c", i, "'"));
  }
  EXPECT_THAT(Refusal(many, small), HasSubstr("Node 'c2': attr 'value': "));
}

TEST(HostileGraph, Nesting) {
  pb::GraphDef def;
  def.add_node()->set_name("a");
  def.mutable_node(0)->set_op("NoOp");
  pb::AttrValue* value = &(*def.mutable_node(0)->mutable_attr())["_f"];
  for (int i = 0; i < 5000; ++i) value = &(*value->mutable_func()->mutable_attr())["f"];
  Graph g;
  EXPECT_THAT(ImportGraphDef(def, g).status().message(),
              HasSubstr("Node 'a': attr '_f': attributes nested deeper than 32"));
  EXPECT_EQ(g.num_nodes(), 0);
  EXPECT_EQ(ImportGraphDef(def.SerializeAsString(), g).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ImportGraphDef(std::string(100000, '{'), g).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(HostileGraph, TypesAndValuesOfAttributes) {
  EXPECT_THAT(
      Refusal("node { name: 'a' op: 'Placeholder' attr { key: 'dtype' value { type: 77 } } }"),
      HasSubstr("Node 'a': attr 'dtype': no data type has number 77"));
  EXPECT_THAT(Refusal("node { name: 'a' op: 'Placeholder' attr { key: 'dtype' value { } } }"),
              AllOf(HasSubstr("INVALID_ARGUMENT"), HasSubstr("{{node a}}")));
  EXPECT_THAT(Refusal("node { name: 'a' op: 'Attributes' attr { key: 'i' value { s: 'x' } } }"),
              AllOf(HasSubstr("expected int"), HasSubstr("{{node a}}")));
  // A placeholder represents a value only in bodies of functions.
  EXPECT_THAT(
      Refusal("node { name: 'a' op: 'Attributes' attr { key: 'i' value { placeholder: 'x' } } }"),
      AllOf(HasSubstr("expected int"), HasSubstr("{{node a}}")));
  EXPECT_THAT(Refusal("node { name: 'a' op: 'Attributes' attr { key: 'i' value { i: -11 } } }"),
              HasSubstr("must be at least minimum -10"));
  EXPECT_THAT(Refusal("node { name: 'a' op: 'Attributes' attr { key: 'mode' value { s: 'C' } } }"),
              HasSubstr("not in the list of allowed values: \"A\", \"B\""));
  EXPECT_THAT(
      Refusal(
          "node { name: 'a' op: 'Attributes' attr { key: 'ints' value { list { i: 1 f: 2 } } } }"),
      HasSubstr("Node 'a': attr 'ints': list with elements of 2 kinds"));
}

TEST(HostileGraph, Versions) {
  EXPECT_EQ(Refusal("versions { min_consumer: 99999 }"),
            "INVALID_ARGUMENT: GraphDef min consumer version 99999 above current version 2474 for "
            "TensorFlow 2.21.0.  Please upgrade TensorFlow.");
  EXPECT_EQ(
      Refusal("versions { bad_consumers: 2474 }"),
      "INVALID_ARGUMENT: GraphDef disallows consumer version 2474.  Please upgrade TensorFlow: "
      "this version is likely buggy.");
  EXPECT_THAT(
      Refusal("node { name: 'a' op: 'Gone' } versions { producer: 21 }"),
      HasSubstr("UNIMPLEMENTED: Op Gone is not available in GraphDef version 21. It has been "
                "removed in version 21. Use NoOp."));
  Graph g;
  EXPECT_TRUE(ImportGraphDef("node { name: 'a' op: 'Gone' } versions { producer: 20 }", g).ok());
}

TEST(HostileGraph, ShapesThatDoNotFit) {
  const std::string text =
      "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } "
      "attr { key: 'shape' value { shape { dim { size: 2 } } } } }"
      "node { name: 'y' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } "
      "attr { key: 'shape' value { shape { dim { size: 3 } } } } }" +
      StrCat("node { name: 'a' op: 'AddV2' input: 'x' input: 'y' ", kFloat, " }");
  EXPECT_THAT(Refusal(text),
              AllOf(HasSubstr("Dimensions must be equal, but are 2 and 3"), HasSubstr("a")));
  Graph g;
  EXPECT_TRUE(ImportGraphDef(text, g, {.infer_shapes = false}).ok());
}

TEST(HostileGraph, BytesThatAreNoGraph) {
  EXPECT_EQ(Refusal("nodes { }"),
            "INVALID_ARGUMENT: GraphDef: line 1, column 7: Message type "
            "\"sluice.pb.GraphDef\" has no field named \"nodes\".");
  EXPECT_EQ(Refusal(std::string("\x0a\xff\xff", 3)),
            "INVALID_ARGUMENT: GraphDef: 3 bytes that are neither binary nor text");
}

}  // namespace
}  // namespace sluice
