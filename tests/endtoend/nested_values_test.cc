// Values that nest deeper than a stack: datasets that read each other, lists and optionals in
// lists.
#include "gmock/gmock.h"
#include "graph/format/graph_def.h"
#include "gtest/gtest.h"
#include "sluice.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

Output Number(Graph& g, int64_t value) { return Constant(g, Tensor::Scalar(value)); }

Output Add(Graph& g, const std::string& op, OutputList inputs, AttrMap attrs) {
  NodeSpec spec{.name = g.UniqueName(op), .op = op};
  spec.inputs = std::move(inputs);
  spec.attrs = std::move(attrs);
  const absl::StatusOr<Node*> node = g.Add(std::move(spec));
  EXPECT_TRUE(node.ok()) << node.status();
  return node.ok() ? Output(*node, 0) : Output();
}

const AttrMap& Elements() {
  static const auto* attrs =
      new AttrMap{{"output_types", std::vector<DataType>{DT_INT64}},
                  {"output_shapes", std::vector<PartialShape>{PartialShape::Scalar()}}};
  return *attrs;
}

// The numbers 0 to 9, read through `depth` - 1 other datasets.
Output Chain(Graph& g, int depth) {
  const Output zero = Number(g, 0);
  Output dataset = Add(g, "RangeDataset", {zero, Number(g, 10), Number(g, 1)}, Elements());
  for (int i = 1; i < depth; ++i) dataset = Add(g, "SkipDataset", {dataset, zero}, Elements());
  return dataset;
}

absl::StatusOr<Tensors> FirstElement(Graph& g, Output dataset) {
  AttrMap attrs = Elements();
  attrs["shared_name"] = std::string();
  attrs["container"] = std::string();
  const Output iterator = Add(g, "IteratorV2", {}, attrs);
  NodeSpec make{.name = "make", .op = "MakeIterator", .inputs = {dataset, iterator}};
  SLUICE_ASSIGN_OR_RETURN(Node * made, g.Add(std::move(make)));
  const Output next = Add(g, "IteratorGetNext", {iterator}, Elements());
  Session session(g);
  SLUICE_RETURN_IF_ERROR(session.Run({Operation(made)}));
  return session.Run({}, {next});
}

TEST(NestedValuesTest, ChainsOfDatasetsEndAtALimit) {
  {
    Graph g;
    const auto first = FirstElement(g, Chain(g, 1000));
    ASSERT_TRUE(first.ok()) << first.status();
    EXPECT_EQ((*first)[0].scalar<int64_t>(), 0);
  }
  for (const int depth : {1001, 200'000}) {
    Graph g;
    const absl::Status status = FirstElement(g, Chain(g, depth)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("SkipDataset"), HasSubstr("a chain of at most 1000 datasets")));
  }
}

// The text of a Const of a graph or a function.
std::string NumberText(const char* name, int64_t value) {
  return StrCat("{ name: '", name, "' op: 'Const' attr { key: 'dtype' value { type: DT_INT64 } } ",
                "attr { key: 'value' value { tensor { dtype: DT_INT64 tensor_shape {} int64_val: ",
                value, " } } } }");
}

// A dataset of the numbers 0 to 9, for each of which a function returns a chain of datasets.
absl::StatusOr<Tensors> FirstOfReturnedChain(int depth) {
  constexpr char kElements[] =
      " attr { key: 'output_types' value { list { type: DT_INT64 } } }"
      " attr { key: 'output_shapes' value { list { shape {} } } }";
  std::string text = StrCat("node ", NumberText("zero", 0), " node ", NumberText("ten", 10),
                            " node ", NumberText("one", 1));
  StrAppend(&text, " node { name: 'd' op: 'RangeDataset' input: 'zero' input: 'ten' input: 'one'",
            kElements, " } node { name: 'flat' op: 'FlatMapDataset' input: 'd'", kElements,
            " attr { key: 'Targuments' value { list {} } }"
            " attr { key: 'f' value { func { name: 'chain' } } } }",
            " library { function { signature { name: 'chain' input_arg { name: 'x' type: DT_INT64 }"
            " output_arg { name: 'made' type: DT_VARIANT } } node_def ",
            NumberText("zero", 0), " node_def ", NumberText("one", 1), " node_def ",
            NumberText("five", 5),
            " node_def { name: 'd1' op: 'RangeDataset' input: 'zero:output:0'"
            " input: 'five:output:0' input: 'one:output:0'",
            kElements, " }");
  for (int i = 2; i <= depth; ++i) {
    StrAppend(&text, " node_def { name: 'd", i, "' op: 'SkipDataset' input: 'd", i - 1,
              ":handle:0' input: 'zero:output:0'", kElements, " }");
  }
  StrAppend(&text, " ret { key: 'made' value: 'd", depth, ":handle:0' } } }");
  Graph g;
  SLUICE_RETURN_IF_ERROR(ImportGraphDef(text, g).status());
  return FirstElement(g, Output(g.Find("flat"), 0));
}

// Each level of functions shares its thread's stack with the outer ones.
TEST(NestedValuesTest, ChainsThatFunctionsReturnEndAtALowerLimit) {
  const auto first = FirstOfReturnedChain(60);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ((*first)[0].scalar<int64_t>(), 0);
  const absl::Status status = FirstOfReturnedChain(61).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("Function made a chain of 61 datasets, expected at most 60"));
}

// list = [list], and optional = Optional(optional), 300,000 times.
TEST(NestedValuesTest, ListsAndOptionalsNestToAnyDepth) {
  Graph g;
  const Output anything = Constant(g, Tensor::Scalar<int32_t>(-1));
  const Output most = Constant(g, Tensor::Scalar<int32_t>(2));
  const auto empty = [&] {
    return Add(g, "EmptyTensorList", {anything, most},
               {{"element_dtype", DT_VARIANT}, {"shape_type", DT_INT32}});
  };
  const Output zero = Constant(g, Tensor::Scalar<int32_t>(0));
  const OutputList last = WhileLoop(
      [&](const OutputList& v) {
        return Less(v[0], Constant(g, Tensor::Scalar<int32_t>(300'000)));
      },
      [&](const OutputList& v) {
        return OutputList{v[0] + 1, TensorListPushBack(empty(), v[1]), OptionalFromValue({v[2]})};
      },
      {zero, empty(), OptionalNone(g)});
  ASSERT_TRUE(g.status().ok()) << g.status();
  Session session(g);
  for (int i = 0; i < 2; ++i) {
    const auto fetched = session.Run({}, {TensorListLength(last[1]), OptionalHasValue(last[2])});
    ASSERT_TRUE(fetched.ok()) << fetched.status();
    EXPECT_EQ((*fetched)[0].scalar<int32_t>(), 1);
    EXPECT_TRUE((*fetched)[1].scalar<bool>());
  }
}

}  // namespace
}  // namespace sluice
