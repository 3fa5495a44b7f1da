// Matmuls of which only some columns are read compute only those, with the same results.
#include <cmath>
#include <functional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sluice.h"
#include "tests/passes/pass_checks.h"

namespace sluice {
namespace {

using Build = std::function<Output(Output a, Output b)>;

// The result, and the number of full matmuls that a step runs.
struct Outcome {
  Tensor y;
  int whole = 0, narrow = 0;
};

Tensor Numbers(const TensorShape& shape) {
  Tensor t(DT_FLOAT, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    t.data<float>()[i] = std::sin(static_cast<float>(i + shape.dim(0)));
  }
  return t;
}

struct Row {
  const char* name;
  TensorShape a, b;
  PartialShape known_a, known_b;
  bool is_narrowed;
  Build build;
  int whole_products = 1;
};

absl::StatusOr<Outcome> OutcomeOf(const Row& row, std::set<std::string> disabled) {
  Graph g;
  const Output a = Placeholder(g, DT_FLOAT, row.known_a, "a");
  const Output b = Placeholder(g, DT_FLOAT, row.known_b, "b");
  const Output y = row.build(a, b);
  SLUICE_RETURN_IF_ERROR(g.status());
  Session session(g, Without(std::move(disabled)));
  std::map<std::string, int> counts;
  SLUICE_ASSIGN_OR_RETURN(
      const Tensors out,
      RunAndCount(session, {{{a, Numbers(row.a)}, {b, Numbers(row.b)}}}, {y}, {}, &counts));
  return Outcome{out[0], counts["MatMul"], counts["_MatMulColumns"]};
}

std::vector<Row> Rows() {
  const auto slice = [](std::vector<int32_t> begin, std::vector<int32_t> size,
                        MatMulAttrs attrs = {}) {
    return [=](Output a, Output b) {
      Graph& g = *a.graph();
      return Slice(MatMul(a, b, attrs), Constant(g, Tensor::Vector<int32_t>(begin)),
                   Constant(g, Tensor::Vector<int32_t>(size)));
    };
  };
  return {
      {"the last columns", {32, 48}, {48, 64}, {32, 48}, {48, 64}, true, slice({0, 40}, {32, 24})},
      {"of any number of rows", {7, 5}, {5, 9}, {-1, 5}, {5, 9}, true, slice({0, 2}, {-1, 3})},
      {"to the end", {7, 5}, {5, 9}, {7, 5}, {5, 9}, true, slice({0, 2}, {7, -1})},
      {"of a transposed matrix",
       {32, 128},
       {64, 128},
       {32, 128},
       {64, 128},
       true,
       slice({0, 32}, {-1, 32}, {.transpose_b = true})},
      {"of two transposed ones",
       {12, 7},
       {9, 12},
       {12, 7},
       {9, 12},
       true,
       slice({0, 1}, {7, 4}, {.transpose_a = true, .transpose_b = true})},
      {"in a loop",
       {6, 6},
       {6, 12},
       {6, 6},
       {6, 12},
       true,
       [](Output a, Output b) {
         Graph& g = *a.graph();
         return WhileLoop(
             [&](const OutputList& v) { return Less(v[0], Constant(g, 3)); },
             [&](const OutputList& v) {
               return OutputList{v[0] + 1, Tanh(Slice(MatMul(v[1], b), {0, 3}, {6, 6}))};
             },
             {Constant(g, 0), a})[1];
       }},
      {"the gradient of a cell's state",
       {32, 24},
       {48, 96},
       {32, 24},
       {48, 96},
       true,
       [](Output a, Output b) {
         // The first half is not read.
         const Output state = Tanh(a);
         const Output y = Tanh(MatMul(Concat({a * 2.0f, state}, 1), b));
         const auto gradients = Gradients({ReduceSum(Square(y))}, {state});
         EXPECT_TRUE(gradients.ok()) << gradients.status();
         return (*gradients)[0].dense();
       },
       2},
      {"behind an Identity that waits",
       {7, 5},
       {5, 9},
       {7, 5},
       {5, 9},
       true,
       [](Output a, Output b) {
         Graph& g = *a.graph();
         const Output y = MatMul(a, b);
         const Output other = Exp(a);
         Output waits;
         {
           ControlDependencies both(g, {Operation(y), Operation(other)});
           waits = Identity(y);
         }
         return Slice(waits, {0, 1}, {7, 3}) + ReduceSum(other);
       }},
      {"read twice",
       {7, 5},
       {5, 9},
       {7, 5},
       {5, 9},
       false,
       [](Output a, Output b) {
         const Output y = MatMul(a, b);
         return Slice(y, {0, 1}, {7, 3}) + Slice(y, {0, 5}, {7, 3});
       }},
      {"some rows", {7, 5}, {5, 9}, {7, 5}, {5, 9}, false, slice({1, 2}, {6, 3})},
      {"all columns", {7, 5}, {5, 9}, {7, 5}, {5, 9}, false, slice({0, 0}, {-1, -1})},
      {"of sizes that are not known", {7, 5}, {5, 9}, {7, 5}, {}, false, slice({0, 2}, {-1, 3})},
  };
}

TEST(NarrowProducts, GiveWhatSlicesOfWholeOnesGive) {
  for (const Row& row : Rows()) {
    const absl::StatusOr<Outcome> plain = OutcomeOf(row, {"narrow_products"});
    const absl::StatusOr<Outcome> narrow = OutcomeOf(row, {});
    ASSERT_TRUE(plain.ok()) << row.name << ": " << plain.status();
    ASSERT_TRUE(narrow.ok()) << row.name << ": " << narrow.status();
    EXPECT_EQ(plain->narrow, 0) << row.name;
    EXPECT_EQ(narrow->narrow, row.is_narrowed ? 1 : 0) << row.name;
    EXPECT_EQ(plain->whole, row.whole_products) << row.name;
    EXPECT_EQ(narrow->whole, row.whole_products - narrow->narrow) << row.name;
    ASSERT_EQ(narrow->y.shape(), plain->y.shape()) << row.name;
    for (int64_t i = 0; i < plain->y.num_elements(); ++i) {
      EXPECT_NEAR(narrow->y.data<float>()[i], plain->y.data<float>()[i], 1e-5f)
          << row.name << ", element " << i;
    }
  }
}

TEST(NarrowProducts, AreNoneWhereTheSliceLiesOutside) {
  const Row row = {"outside", {7, 5}, {5, 9}, {7, 5}, {5, 9}, false, [](Output a, Output b) {
                     return Slice(MatMul(a, b), {0, 8}, {7, 3});
                   }};
  Graph g;
  row.build(Placeholder(g, DT_FLOAT, row.known_a), Placeholder(g, DT_FLOAT, row.known_b));
  EXPECT_FALSE(g.status().ok()) << "the builder tells";
}

TEST(NarrowProducts, AreNoneWhereTheProductMayFail) {
  Row row = Rows()[1];
  row.known_a = {-1, -1};
  const absl::StatusOr<Outcome> fitting = OutcomeOf(row, {});
  ASSERT_TRUE(fitting.ok()) << fitting.status();
  EXPECT_EQ(fitting->narrow, 0);
  row.a = {7, 6};
  const absl::Status status = OutcomeOf(row, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              ::testing::HasSubstr("Matrix size-incompatible: In[0]: [7,6], In[1]: [5,9]"));
}

// The slice waits for an update of the weights, the product does not.
TEST(NarrowProducts, DoNotSeeLaterUpdates) {
  const auto outcome = [](std::set<std::string> disabled) -> absl::StatusOr<Tensors> {
    Graph g;
    const Variable w(g, "w", RandomFloats({5, 9}, 1), {.use_resource = false});
    const Output y = MatMul(Constant(g, RandomFloats({7, 5}, 2)), w.snapshot());
    Operation update;
    {
      ControlDependencies after(g, {Operation(y)});
      update = w.AssignAdd(Constant(g, RandomFloats({5, 9}, 3)));
    }
    ControlDependencies after(g, {update});
    const Output some = Slice(y, {0, 1}, {7, 3});
    SLUICE_RETURN_IF_ERROR(g.status());
    Session session(g, Without(std::move(disabled)));
    SLUICE_RETURN_IF_ERROR(session.Run({w.initializer()}));
    return session.Run(std::vector<Feed>{}, {some});
  };
  ExpectSameBits(outcome({}), outcome({"narrow_products"}));
}

}  // namespace
}  // namespace sluice
