// Imported nodes that call functions of the graph's library by name.
#include <cstdint>

#include "executor/wait/cancellation.h"
#include "gmock/gmock.h"
#include "graph/format/graph_def.h"
#include "gtest/gtest.h"
#include "sluice.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

constexpr char kLibrary[] = R"(
  library {
    function {
      signature { name: 'Quadratic' attr { name: 'T' type: 'type' }
                  input_arg { name: 'a' type_attr: 'T' } output_arg { name: 'b' type_attr: 'T' } }
      node_def { name: 'm' op: 'Mul' input: 'a' input: 'a' attr { key: 'T' value { placeholder: 'T' } } }
      ret { key: 'b' value: 'm:z:0' }
    }
    function {
      signature { name: 'QuadraticGradient' input_arg { name: 'a' type: DT_FLOAT }
                  input_arg { name: 'dy' type: DT_FLOAT } output_arg { name: 'dx' type: DT_FLOAT } }
      node_def { name: 'm' op: 'Mul' input: 'a' input: 'dy' attr { key: 'T' value { type: DT_FLOAT } } }
      node_def { name: 'n' op: 'Neg' input: 'm:z:0' attr { key: 'T' value { type: DT_FLOAT } } }
      ret { key: 'dx' value: 'n:y:0' }
    }
    function {
      signature { name: 'Outer' input_arg { name: 'a' type: DT_FLOAT }
                  output_arg { name: 'b' type: DT_FLOAT } }
      node_def { name: 's' op: 'Quadratic' input: 'a' attr { key: 'T' value { type: DT_FLOAT } } }
      node_def { name: 'm' op: 'Mul' input: 's:b:0' input: 'a' attr { key: 'T' value { type: DT_FLOAT } } }
      ret { key: 'b' value: 'm:z:0' }
    }
    gradient { function_name: 'Quadratic' gradient_func: 'QuadraticGradient' }
  })";

constexpr char kNodes[] = R"(
  node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }
  node { name: 'i' op: 'Placeholder' attr { key: 'dtype' value { type: DT_INT64 } } }
  node { name: 'one' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }
         attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 1 } } } }
  node { name: 'square' op: 'Quadratic' input: 'x' attr { key: 'T' value { type: DT_FLOAT } } }
  node { name: 'integer' op: 'Quadratic' input: 'i' attr { key: 'T' value { type: DT_INT64 } } }
  node { name: 'outer' op: 'Outer' input: 'square' }
  node { name: 'gradient' op: 'SymbolicGradient' input: 'x' input: 'one'
         attr { key: 'Tin' value { list { type: DT_FLOAT type: DT_FLOAT } } }
         attr { key: 'Tout' value { list { type: DT_FLOAT } } }
         attr { key: 'f' value { func { name: 'Outer' } } } })";

float Scalar(const absl::StatusOr<std::vector<Tensor>>& fetched) {
  EXPECT_TRUE(fetched.ok()) << fetched.status();
  return fetched.ok() ? (*fetched)[0].scalar<float>() : 0;
}

TEST(FunctionsTest, ANodeCallsTheFunctionThatItsOpNames) {
  Graph g;
  const auto imported = ImportGraphDef(StrCat(kNodes, kLibrary), g);
  ASSERT_TRUE(imported.ok()) << imported.status();
  Session session(g);
  const Output x(g.Find("x"), 0), i(g.Find("i"), 0);
  EXPECT_EQ(Scalar(session.Run({{x, Tensor::Scalar(3.0f)}}, {Output(g.Find("outer"), 0)})), 729);
  const auto integer =
      session.Run({{i, Tensor::Scalar<int64_t>(3)}}, {Output(g.Find("integer"), 0)});
  ASSERT_TRUE(integer.ok()) << integer.status();
  EXPECT_EQ((*integer)[0].scalar<int64_t>(), 9);
}

// The declared gradient of Quadratic, -a * dy, is used although only the body of Outer calls it:
// x^2 + x * (-x).
TEST(FunctionsTest, TheGradientOfACallerUsesTheDeclaredGradientOfItsCallees) {
  Graph g;
  ASSERT_TRUE(ImportGraphDef(StrCat(kNodes, kLibrary), g).ok());
  Session session(g);
  const Output x(g.Find("x"), 0);
  EXPECT_EQ(Scalar(session.Run({{x, Tensor::Scalar(3.0f)}}, {Output(g.Find("gradient"), 0)})), 0);
  const auto gradients = Gradients({Output(g.Find("square"), 0)}, {x});
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  EXPECT_EQ(Scalar(session.Run({{x, Tensor::Scalar(3.0f)}}, {(*gradients)[0].dense()})), -3);
}

TEST(FunctionsTest, ALaterImportMayCallAnEarlierFunction) {
  Graph g;
  ASSERT_TRUE(ImportGraphDef(StrCat(kNodes, kLibrary), g).ok());
  const auto imported = ImportGraphDef(R"(node { name: 'y' op: 'Outer' input: 'one' }
    node { name: 'one' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }
         attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 2 } } } })",
                                       g, {.prefix = "later"});
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(Scalar(Session(g).Run(std::vector<Feed>{}, {Output(g.Find("later/y"), 0)})), 8);
}

TEST(FunctionsTest, AMissingAttributeIsNamed) {
  Graph g;
  const auto imported = ImportGraphDef(
      StrCat(R"(node { name: 'i' op: 'Placeholder' attr { key: 'dtype' value { type: DT_INT64 } } }
                node { name: 'y' op: 'Quadratic' input: 'i' })",
             kLibrary),
      g);
  EXPECT_THAT(std::string(imported.status().message()),
              HasSubstr("Node 'y': NodeDef missing attr 'T' from Op<name=Quadratic>"));
  // The name of a function that the library does not have is an unknown op.
  ASSERT_TRUE(ImportGraphDef("node { name: 'y' op: 'Cube' }", g).ok());
  EXPECT_THAT(std::string(Session(g).Run({}, {}, {"y"}).status().message()),
              HasSubstr("Op type not registered 'Cube'"));
}

// Functions with lists of tensors as arguments. 'Two' returns {x, -x} and x * x.
constexpr char kLists[] = R"(
  library {
    function {
      signature { name: 'Two' attr { name: 'Ts' type: 'list(type)' }
                  input_arg { name: 'x' type: DT_FLOAT }
                  output_arg { name: 'ys' type_list_attr: 'Ts' }
                  output_arg { name: 'z' type: DT_FLOAT } }
      node_def { name: 'n' op: 'Neg' input: 'x' attr { key: 'T' value { type: DT_FLOAT } } }
      node_def { name: 'm' op: 'Mul' input: 'x' input: 'x' attr { key: 'T' value { type: DT_FLOAT } } }
      node_def { name: 'l' op: 'IdentityN' input: 'x' input: 'n:y'
                 attr { key: 'T' value { placeholder: 'Ts' } } }
      ret { key: 'ys' value: 'l:output' } ret { key: 'z' value: 'm:z:0' }
    }
    function {
      signature { name: 'Outer' input_arg { name: 'x' type: DT_FLOAT }
                  output_arg { name: 'difference' type: DT_FLOAT }
                  output_arg { name: 'sum' type: DT_FLOAT } }
      node_def { name: 'c' op: 'Two' input: 'x'
                 attr { key: 'Ts' value { list { type: DT_FLOAT type: DT_FLOAT } } } }
      node_def { name: 'd' op: 'Sub' input: 'c:ys:1' input: 'c:z:0'
                 attr { key: 'T' value { type: DT_FLOAT } } }
      node_def { name: 's' op: 'Total' input: 'c:ys' input: 'c:z:0' attr { key: 'N' value { i: 3 } } }
      ret { key: 'difference' value: 'd:z:0' } ret { key: 'sum' value: 's:y:0' }
    }
    function {
      signature { name: 'Total' attr { name: 'N' type: 'int' }
                  input_arg { name: 'xs' type: DT_FLOAT number_attr: 'N' }
                  output_arg { name: 'y' type: DT_FLOAT } }
      node_def { name: 'a' op: 'AddN' input: 'xs' attr { key: 'N' value { placeholder: 'N' } }
                 attr { key: 'T' value { type: DT_FLOAT } } }
      ret { key: 'y' value: 'a:sum:0' }
    }
    function {
      signature { name: 'TooFew' attr { name: 'N' type: 'int' }
                  input_arg { name: 'x' type: DT_FLOAT }
                  output_arg { name: 'ys' type: DT_FLOAT number_attr: 'N' } }
      ret { key: 'ys' value: 'x' }
    }
  }
  node { name: 'x' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }
         attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 3 } } } }
  node { name: 'two' op: 'Two' input: 'x'
         attr { key: 'Ts' value { list { type: DT_FLOAT type: DT_FLOAT } } } }
  node { name: 'outer' op: 'Outer' input: 'x' }
  node { name: 'few' op: 'TooFew' input: 'x' attr { key: 'N' value { i: 2 } } }
  versions { producer: 27 })";

TEST(FunctionsTest, ArgumentsMayBeLists) {
  Graph g;
  const auto imported = ImportGraphDef(kLists, g);
  ASSERT_TRUE(imported.ok()) << imported.status();
  Session session(g);
  const auto fetched = session.Run({}, {"two:0", "two:1", "two:2", "outer:0", "outer:1"});
  ASSERT_TRUE(fetched.ok()) << fetched.status();
  std::vector<float> values;
  for (const Tensor& tensor : *fetched) values.push_back(tensor.scalar<float>());
  EXPECT_THAT(values, ::testing::ElementsAre(3, -3, 9, -12, 9));
  EXPECT_THAT(std::string(session.Run({}, {"few:0"}).status().message()),
              HasSubstr("function 'TooFew': Invalid ret types ys: expected 2 tensors, got 1"));
}

// --- graphs whose functions cost more than their size suggests

constexpr char kOneFloat[] = R"(
  node { name: 'one' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }
         attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 1 } } } })";

// The text of a function of a float that calls `callee` twice.
std::string CallsTwice(int level) {
  const std::string callee = StrCat("f", level - 1);
  return StrCat("function { signature { name: 'f", level,
                "' input_arg { name: 'a' type: DT_FLOAT }",
                " output_arg { name: 'b' type: DT_FLOAT } }", " node_def { name: 'l' op: '", callee,
                "' input: 'a' }", " node_def { name: 'm' op: '", callee, "' input: 'l:b:0' }",
                " ret { key: 'b' value: 'm:b:0' } }");
}

// A library of f0, whose body is `body`, and 60 functions that each call the previous one twice.
std::string Doubling(const std::string& body) {
  std::string library = StrCat("library { function { signature { name: 'f0'",
                               " input_arg { name: 'a' type: DT_FLOAT }",
                               " output_arg { name: 'b' type: DT_FLOAT } } ", body, " }");
  for (int level = 1; level <= 60; ++level) library += CallsTwice(level);
  return library + " }";
}

TEST(HostileFunctionsTest, DoublingCallsEndAtALimit) {
  const std::string neg =
      "node_def { name: 'n' op: 'Neg' input: 'a' attr { key: 'T' value { type: DT_FLOAT } } } "
      "ret { key: 'b' value: 'n:y:0' }";
  for (const std::string& body : {neg, std::string("ret { key: 'b' value: 'a' }")}) {
    Graph g;
    const auto imported = ImportGraphDef(
        StrCat(kOneFloat, "node { name: 'y' op: 'f60' input: 'one' }", Doubling(body)), g);
    ASSERT_TRUE(imported.ok()) << imported.status();
    const absl::Status status = Session(g).Run({}, {"y:0"}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("'y'"), HasSubstr("expand to more than 300000 nodes")));
  }
}

TEST(HostileFunctionsTest, DoublingListsEndAtALimit) {
  std::string body, last = "a";
  for (int level = 1; level <= 30; ++level) {
    body += StrCat("node_def { name: 's", level, "' op: 'ShapeN' input: '", last, "' input: '",
                   last, "' attr { key: 'N' value { i: ", int64_t{1} << level,
                   " } } attr { key: 'T' value { type: ", level == 1 ? "DT_FLOAT" : "DT_INT32",
                   " } } attr { key: 'out_type' value { type: DT_INT32 } } }");
    last = StrCat("s", level, ":output");
  }
  Graph g;
  const auto imported = ImportGraphDef(
      StrCat(kOneFloat, "node { name: 'y' op: 'f' input: 'one' } library { function { signature {",
             " name: 'f' input_arg { name: 'a' type: DT_FLOAT } output_arg { name: 'b' type:",
             " DT_INT32 } } ", body, " ret { key: 'b' value: '", last, ":0' } } }"),
      g);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(Session(g).Run({}, {"y:0"}).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(HostileFunctionsTest, AGradientLooksThroughAChainOfManyFunctions) {
  constexpr int kFunctions = 50'000;
  const std::string signature =
      "' input_arg { name: 'a' type: DT_FLOAT } output_arg { name: 'b' type: DT_FLOAT } } ";
  std::string library = StrCat("library { function { signature { name: 'f0", signature,
                               "ret { key: 'b' value: 'a' } }");
  for (int i = 1; i < kFunctions; ++i) {
    StrAppend(&library, " function { signature { name: 'f", i, signature,
              "node_def { name: 'c' op: 'f", i - 1,
              "' input: 'a' } ret { key: 'b' value: 'c:b:0' } }");
  }
  Graph g;
  const auto imported = ImportGraphDef(StrCat(kOneFloat, "node { name: 'y' op: 'f", kFunctions - 1,
                                              "' input: 'one' } ", library, " }"),
                                       g);
  ASSERT_TRUE(imported.ok()) << imported.status();
  const auto gradients = Gradients({Output(g.Find("y"), 0)}, {Output(g.Find("one"), 0)});
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  const absl::Status status =
      Session(g).Run(std::vector<Feed>{}, {(*gradients)[0].dense()}).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("calls nest more than 64 deep"));
}

TEST(HostileFunctionsTest, AMapInAFunctionNeedsItsArguments) {
  Graph g;
  const auto imported = ImportGraphDef(StrCat(kOneFloat, R"(
        node { name: 'y' op: 'f' input: 'one' }
        library { function {
          signature { name: 'f' input_arg { name: 'a' type: DT_FLOAT }
                      output_arg { name: 'b' type: DT_FLOAT } }
          node_def { name: 's' op: 'Shape' input: 'a' attr { key: 'T' value { type: DT_FLOAT } }
                     attr { key: 'out_type' value { type: DT_INT32 } } }
          node_def { name: 'm' op: 'MapDefun' input: 's:output:0'
                     attr { key: 'Targuments' value { list { type: DT_INT32 type: DT_INT32 } } }
                     attr { key: 'output_types' value { list { type: DT_FLOAT } } }
                     attr { key: 'output_shapes' value { list { shape {} } } }
                     attr { key: 'f' value { func { name: 'f' } } } }
          ret { key: 'b' value: 'm:output:0' } } })"),
                                       g);
  ASSERT_TRUE(imported.ok()) << imported.status();
  const absl::Status status = Session(g).Run({}, {"y:0"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("expected 2 arguments, got 1 inputs"));
}

TEST(HostileFunctionsTest, ACancelledStepIsNotCompiled) {
  Graph g;
  ASSERT_TRUE(ImportGraphDef(StrCat(kOneFloat, "node { name: 'y' op: 'f60' input: 'one' }",
                                    Doubling("ret { key: 'b' value: 'a' }")),
                             g)
                  .ok());
  CancellationManager cancellation;
  cancellation.StartCancel();
  const absl::Status status =
      Session(g).Run({}, {"y:0"}, {}, {.cancellation = &cancellation}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
}

TEST(HostileFunctionsTest, ACaseHasTenThousandBranches) {
  constexpr int kBranches = 10'000;
  std::string branches, library = "library {";
  for (int i = 0; i < kBranches; ++i) {
    branches += StrCat(" func { name: 'b", i, "' }");
    library += StrCat(" function { signature { name: 'b", i,
                      "' input_arg { name: 'a' type: DT_FLOAT } output_arg { name: 'b' type: "
                      "DT_FLOAT } } node_def { name: 'c' op: 'Const' attr { key: 'dtype' value { "
                      "type: DT_FLOAT } } attr { key: 'value' value { tensor { dtype: DT_FLOAT "
                      "tensor_shape {} float_val: ",
                      i,
                      " } } } } node_def { name: 'm' op: 'Mul' input: 'a' input: 'c:output:0' attr "
                      "{ key: 'T' value { type: DT_FLOAT } } } ret { key: 'b' value: 'm:z:0' } }");
  }
  Graph g;
  const auto imported = ImportGraphDef(
      StrCat("node { name: 'i' op: 'Placeholder' attr { key: 'dtype' value { type: DT_INT32 } } "
             "attr { key: 'shape' value { shape {} } } }",
             kOneFloat,
             "node { name: 'y' op: 'Case' input: 'i' input: 'one' attr { key: 'Tin' value { list { "
             "type: DT_FLOAT } } } attr { key: 'Tout' value { list { type: DT_FLOAT } } } attr { "
             "key: 'branches' value { list {",
             branches, " } } } }", library, " }"),
      g);
  ASSERT_TRUE(imported.ok()) << imported.status();
  Session session(g);
  const Output i(g.Find("i"), 0), y(g.Find("y"), 0);
  const auto branch = [&](int32_t index) {
    return Scalar(session.Run({{i, Tensor::Scalar(index)}}, {y}));
  };
  EXPECT_EQ(branch(0), 0);
  for (const int index : {1, 4999, 5000, 7501, 9998, 9999}) EXPECT_EQ(branch(index), index);
  // The last branch is for all other indices.
  for (const int index : {-1, INT32_MIN, 10'000, INT32_MAX}) EXPECT_EQ(branch(index), 9999);
}

}  // namespace
}  // namespace sluice
