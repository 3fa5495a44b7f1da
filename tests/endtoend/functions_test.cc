// Imported nodes that call functions of the graph's library by name.
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

}  // namespace
}  // namespace sluice
