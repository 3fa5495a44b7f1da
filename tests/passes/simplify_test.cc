// Graphs run without nodes that have no effect, with the same bits, shapes and errors.
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sluice.h"
#include "tests/passes/pass_checks.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

// Random bytes, so that NaNs, infinities, subnormal numbers and zeros of both signs occur.
Tensor RandomBits(DataType dtype, const TensorShape& shape, std::mt19937& random) {
  Tensor t(dtype, shape);
  auto* bytes = static_cast<unsigned char*>(t.raw());
  for (size_t i = 0; i < t.bytes(); ++i) bytes[i] = static_cast<unsigned char>(random());
  if (dtype == DT_BOOL) {
    for (size_t i = 0; i < t.bytes(); ++i) bytes[i] &= 1;
  } else if (dtype == DT_FLOAT) {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    const float edges[] = {0.0f, -0.0f, kInf, -kInf, std::nanf("7"), -std::nanf("3"), 1e-44f, 1.5f};
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      float& x = t.data<float>()[i];
      // Arithmetic silences a signaling NaN.
      if (std::isnan(x) || random() % 2 == 0) x = edges[random() % std::size(edges)];
    }
  }
  return t;
}

using Build = std::function<Output(Output x)>;

// The result, and the number of nodes of op `op` that a step runs.
struct Outcome {
  absl::StatusOr<Tensor> y;
  int count = 0;
};

Outcome OutcomeOf(const Build& build, const PartialShape& known, const Tensor& x,
                  const std::string& op, std::set<std::string> disabled) {
  Graph g;
  const Output fed = Placeholder(g, x.dtype(), known, "x");
  // A fed tensor is in the caller's memory and is not simplified (see below), so it is copied.
  const Output own = ReverseV2(fed, Constant(g, Tensor::Vector<int32_t>({0})));
  const Output y = build(own);
  if (!g.status().ok()) return {g.status()};
  Session session(g, Without(std::move(disabled)));
  std::map<std::string, int> counts;
  const absl::StatusOr<Tensors> out = RunAndCount(session, {{{fed, x}}}, {y}, {}, &counts);
  if (!out.ok()) return {out.status()};
  return {(*out)[0], counts[op]};
}

struct Row {
  std::string op;  // that is counted
  int before;
  int after;
  DataType dtype;
  TensorShape fed;
  PartialShape known;
  Build build;
};

Output Ints(Output x, std::initializer_list<int32_t> values) {
  return Constant(*x.graph(), Tensor::Vector<int32_t>(values));
}

Output Number(Output x, Tensor value) { return Constant(*x.graph(), std::move(value)); }

Output ClearedOf(Output x, int axis) { return Squeeze(x, {.squeeze_dims = {axis}}); }

std::vector<Row> Rows() {
  const TensorShape matrix = {3, 4}, cube = {2, 3, 4};
  return {
      {"Transpose",
       2,
       0,
       DT_FLOAT,
       cube,
       {-1, 3, -1},
       [](Output x) {
         return Transpose(Transpose(x, {2, 0, 1}), {1, 2, 0});
       }},
      {"Transpose",
       2,
       1,
       DT_INT16,
       cube,
       {-1, 3, -1},
       [](Output x) {
         return Transpose(Transpose(x, {2, 0, 1}), {2, 0, 1});
       }},
      {"Transpose", 3, 1, DT_FLOAT, cube, cube,
       [](Output x) {
         return Transpose(Transpose(Transpose(x, {2, 0, 1}), {0, 2, 1}), {1, 0, 2});
       }},
      {"Transpose", 1, 0, DT_FLOAT, cube, cube,
       [](Output x) {
         return Transpose(x, {0, 1, 2});
       }},
      {"Reshape",
       2,
       0,
       DT_FLOAT,
       cube,
       {-1, 3, 4},
       [](Output x) {
         return Reshape(Reshape(x, {-1, 12}), {-1, 3, 4});
       }},
      {"Reshape",
       3,
       1,
       DT_FLOAT,
       cube,
       {-1, 3, 4},
       [](Output x) {
         return Reshape(Reshape(Reshape(x, {-1, 12}), {-1, 2}), {6, -1});
       }},
      {"Reshape",
       1,
       0,
       DT_FLOAT,
       {0, 3, 4},
       {-1, 3, 4},
       [](Output x) {
         return Reshape(x, {-1, 3, 4});
       }},
      {"Reshape",
       2,
       2,
       DT_FLOAT,
       {0, 4},
       {-1, 4},
       [](Output x) {
         return Reshape(Reshape(x, {-1, 2}), {-1, 0});
       }},
      {"ExpandDims",
       2,
       0,
       DT_FLOAT,
       matrix,
       {-1, -1},
       [](Output x) { return ClearedOf(ClearedOf(ExpandDims(ExpandDims(x, -1), 0), 0), -1); }},
      {"Squeeze",
       1,
       0,
       DT_FLOAT,
       {1, 4},
       {1, -1},
       [](Output x) { return ExpandDims(ClearedOf(x, 0), 0); }},
      {"Neg", 2, 0, DT_FLOAT, matrix, PartialShape(), [](Output x) { return Neg(Neg(x)); }},
      {"Neg", 5, 1, DT_INT8, matrix, PartialShape(),
       [](Output x) { return Neg(Neg(Neg(Neg(Neg(x))))); }},
      {"Neg", 2, 2, DT_HALF, matrix, PartialShape(), [](Output x) { return Neg(Neg(x)); }},
      {"Invert", 2, 0, DT_UINT16, matrix, PartialShape(),
       [](Output x) { return Invert(Invert(x)); }},
      {"LogicalNot", 2, 0, DT_BOOL, matrix, PartialShape(),
       [](Output x) { return LogicalNot(LogicalNot(x)); }},
      {"Conj", 2, 0, DT_COMPLEX64, matrix, PartialShape(), [](Output x) { return Conj(Conj(x)); }},
      {"ReverseV2",
       3,
       1,
       DT_FLOAT,
       cube,
       {-1, -1, -1},
       [](Output x) {
         return ReverseV2(ReverseV2(x, Ints(x, {0, 2})), Ints(x, {-1, 0}));
       }},
      {"ReverseV2",
       3,
       3,
       DT_FLOAT,
       cube,
       {-1, -1, -1},
       [](Output x) {
         return ReverseV2(ReverseV2(x, Ints(x, {0, 2})), Ints(x, {1, 0}));
       }},
      {"Mul", 1, 0, DT_FLOAT, matrix, PartialShape(), [](Output x) { return x * 1.0f; }},
      {"Mul",
       1,
       0,
       DT_FLOAT,
       matrix,
       {-1, 4},
       [](Output x) {
         return Number(x, Tensor::Of<float>({4}, {1, 1, 1, 1})) * x;
       }},
      {"Mul", 1, 0, DT_UINT8, matrix, PartialShape(),
       [](Output x) { return Mul(x, Number(x, Tensor::Scalar<uint8_t>(1))); }},
      {"Mul", 1, 1, DT_COMPLEX64, matrix, PartialShape(), [](Output x) { return x * 1.0f; }},
      {"RealDiv", 1, 0, DT_FLOAT, matrix, PartialShape(), [](Output x) { return x / 1.0f; }},
      {"FloorDiv", 1, 0, DT_INT32, matrix, PartialShape(),
       [](Output x) { return FloorDiv(x, Number(x, Tensor::Scalar<int32_t>(1))); }},
      {"DivNoNan", 1, 0, DT_FLOAT, matrix, PartialShape(),
       [](Output x) { return DivNoNan(x, Number(x, Tensor::Scalar(1.0f))); }},
      {"Sub", 1, 0, DT_FLOAT, matrix, PartialShape(), [](Output x) { return x - 0.0f; }},
      {"Sub", 1, 1, DT_FLOAT, matrix, PartialShape(), [](Output x) { return 0.0f - x; }},
      {"AddV2", 1, 0, DT_FLOAT, matrix, PartialShape(), [](Output x) { return -0.0f + x; }},
      {"AddV2", 1, 1, DT_FLOAT, matrix, PartialShape(), [](Output x) { return x + 0.0f; }},
      {"AddV2", 1, 0, DT_INT64, matrix, PartialShape(), [](Output x) { return x + 0; }},
      {"Pow", 1, 0, DT_INT32, matrix, PartialShape(),
       [](Output x) { return Pow(x, Number(x, Tensor::Scalar<int32_t>(1))); }},
      {"Pow", 1, 1, DT_FLOAT, matrix, PartialShape(),
       [](Output x) { return Pow(x, Number(x, Tensor::Scalar(1.0f))); }},
      {"Cast", 1, 0, DT_FLOAT, matrix, PartialShape(), [](Output x) { return Cast(x, DT_FLOAT); }},
      {"AddN", 1, 0, DT_FLOAT, matrix, PartialShape(), [](Output x) { return AddN({x}); }},
      {"BroadcastTo", 1, 0, DT_FLOAT, matrix, matrix,
       [](Output x) {
         return BroadcastTo(x, Ints(x, {3, 4}));
       }},
      {"BroadcastTo",
       1,
       1,
       DT_FLOAT,
       matrix,
       {-1, 4},
       [](Output x) {
         return BroadcastTo(x, Ints(x, {3, 4}));
       }},
      {"Tile",
       1,
       0,
       DT_FLOAT,
       matrix,
       {-1, -1},
       [](Output x) {
         return Tile(x, {1, 1});
       }},
      {"Identity",
       2,
       0,
       DT_FLOAT,
       matrix,
       {-1, -1},
       [](Output x) { return StopGradient(Identity(Identity(x))); }},
      {"Transpose",
       2,
       0,
       DT_DOUBLE,
       {3, 3},
       {3, 3},
       [](Output x) {
         return MatMul(Transpose(x, {1, 0}), Transpose(x, {1, 0}));
       }},
      {"Transpose",
       1,
       0,
       DT_INT32,
       cube,
       {-1, -1, -1},
       [](Output x) {
         return BatchMatMulV2(Transpose(x, {0, 2, 1}), x);
       }},
  };
}

TEST(Simplify, NodesThatChangeNothingGoAwayAndTheBitsStay) {
  std::mt19937 random(5);
  int row = 0;
  for (const Row& r : Rows()) {
    SCOPED_TRACE(StrCat("row ", row++, ", ", r.op));
    const Tensor x = RandomBits(r.dtype, r.fed, random);
    const Outcome plain = OutcomeOf(r.build, r.known, x, r.op, {"all"});
    ASSERT_TRUE(plain.y.ok()) << plain.y.status();
    EXPECT_EQ(plain.count, r.before);
    for (const bool alone : {false, true}) {
      const std::set<std::string> others = {"fold_constants", "common_subexpressions",
                                            "unused_nodes", "fuse_elementwise"};
      const Outcome found =
          OutcomeOf(r.build, r.known, x, r.op, alone ? others : std::set<std::string>());
      ASSERT_TRUE(found.y.ok()) << found.y.status();
      EXPECT_EQ(found.count, r.after);
      ExpectSameBits(*found.y, *plain.y);
    }
  }
}

// For shapes that the graph did not know, a step ends with the same error.
TEST(Simplify, StepsFailAsTheyDidBefore) {
  const TensorShape five = {5};
  const std::pair<std::string_view, Build> rows[] = {
      {"transpose expects a vector of size 1",
       [](Output x) {
         return Transpose(Transpose(x, {1, 0}), {1, 0});
       }},
      {"Input to reshape is a tensor with 5 values, but the requested shape requires a multiple",
       [](Output x) {
         return Reshape(Reshape(x, {-1, 2}), {-1});
       }},
      {"Input to reshape is a tensor with 5 values, but the requested shape has 6",
       [](Output x) { return Reshape(Reshape(x, {6}), {-1}); }},
      {"Tried to expand dim index 2", [](Output x) { return ClearedOf(ExpandDims(x, 2), 2); }},
      {"Can not squeeze dim[0]", [](Output x) { return ExpandDims(ClearedOf(x, 0), 0); }},
      {"axis 0 specified more than once",
       [](Output x) {
         return ReverseV2(ReverseV2(x, Ints(x, {0, 0})), Ints(x, {0, 0}));
       }},
      {"Expected multiples argument",
       [](Output x) {
         return Tile(x, {1, 1});
       }},
      {"Incompatible shapes", [](Output x) { return BroadcastTo(x, Ints(x, {6})); }},
  };
  for (const auto& [says, build] : rows) {
    const Tensor x(DT_FLOAT, five);
    const Outcome before = OutcomeOf(build, PartialShape(), x, "", {"all"});
    const Outcome after = OutcomeOf(build, PartialShape(), x, "", {});
    EXPECT_THAT(std::string(before.y.status().message()), HasSubstr(says));
    EXPECT_EQ(after.y.status(), before.y.status());
  }
}

TEST(Simplify, ProductsOfFloatAgreeToTheirLastBits) {
  std::mt19937 random(11);
  const std::pair<int64_t, Build> rows[] = {
      {2,
       [](Output x) {
         return MatMul(Transpose(x, {1, 0}), x);
       }},
      {2,
       [](Output x) {
         return MatMul(x, Transpose(x, {1, 0}));
       }},
      {2,
       [](Output x) {
         return MatMul(Transpose(x, {1, 0}), x, {.transpose_b = true});
       }},
      {3,
       [](Output x) {
         return BatchMatMulV2(x, Transpose(x, {0, 2, 1}));
       }},
  };
  for (const auto& [rank, build] : rows) {
    for (const int64_t n : {1, 3, 17, 70, 200}) {
      Tensor x(DT_FLOAT, rank == 2 ? TensorShape({n, n}) : TensorShape({2, n, n}));
      for (float& v : x.flat<float>()) v = std::uniform_real_distribution<float>(0, 1)(random);
      const PartialShape known = PartialShape::UnknownOfRank(static_cast<int>(rank));
      const Outcome before = OutcomeOf(build, known, x, "Transpose", {"fold_transposes"});
      const Outcome after = OutcomeOf(build, known, x, "Transpose", {});
      ASSERT_TRUE(before.y.ok() && after.y.ok()) << before.y.status() << after.y.status();
      EXPECT_EQ(before.count, 1);
      EXPECT_EQ(after.count, 0);
      for (int64_t i = 0; i < before.y->num_elements(); ++i) {
        const float want = before.y->data<float>()[i];
        ASSERT_NEAR(after.y->data<float>()[i], want, 1e-6f * want) << n << ", element " << i;
      }
    }
  }
}

// A fetched value changed when the caller reused a fed tensor.
TEST(Simplify, FetchedValuesStayWhenFedTensorsAreFilledAgain) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {2}, "x");
  const Output y = Neg(Neg(x)), z = Reshape(x, {2, 1}) * 1.0f;
  Session session(g);
  Tensor fed = Tensor::Vector<float>({1, 2});
  const absl::StatusOr<Tensors> out = session.Run({{x, fed}}, {y, z});
  ASSERT_TRUE(out.ok()) << out.status();
  fed.data<float>()[0] = 7;
  EXPECT_EQ((*out)[0].data<float>()[0], 1);
  EXPECT_EQ((*out)[1].data<float>()[0], 1);
}

// In a loop a constant waits for the iteration, in a branch for the branch.
TEST(Simplify, LoopsAndBranchesGiveTheSame) {
  const Build build = [](Output x) {
    Graph& g = *x.graph();
    const auto nothing = [](Output v) {
      const Output turned = Transpose(Transpose(v, {1, 0, 2}), {1, 0, 2}) * 1.0f;
      return Transpose(Transpose(Reshape(Reshape(turned, {-1}), {2, 2, 2}), {1, 2, 0}), {1, 2, 0});
    };
    const Output looped =
        WhileLoop([&](const OutputList& v) { return Less(v[0] * 1, Constant(g, 3)); },
                  [&](const OutputList& v) {
                    return OutputList{v[0] + 1 - 0, nothing(Neg(Neg(v[1])))};
                  },
                  {Constant(g, 0), x})[1];
    return Cond(
        Less(ReduceSum(x), Constant(g, 1.0f)), [&] { return Neg(nothing(looped)) - 0.0f; },
        [&] { return Identity(looped * 1.0f); })[0];
  };
  for (const float sign : {1.0f, -1.0f}) {
    Tensor x(DT_FLOAT, {2, 2, 2});
    for (int i = 0; i < 8; ++i) x.data<float>()[i] = sign * (1.0f + static_cast<float>(i));
    const Outcome before = OutcomeOf(build, {2, 2, 2}, x, "Transpose", {"all"});
    const Outcome after = OutcomeOf(build, {2, 2, 2}, x, "Transpose", {});
    ASSERT_TRUE(before.y.ok() && after.y.ok()) << before.y.status() << after.y.status();
    EXPECT_EQ(before.count, 8);
    EXPECT_EQ(after.count, 2);
    ExpectSameBits(*after.y, *before.y);
  }
}

}  // namespace
}  // namespace sluice
