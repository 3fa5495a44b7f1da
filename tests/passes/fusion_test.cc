// Fused elementwise nodes give the same bits, shapes and errors as single nodes.
#include <cmath>
#include <cstring>
#include <random>

#include "executor/device/pool_allocator.h"
#include "executor/trace/step_stats.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sluice.h"
#include "tests/passes/pass_checks.h"

namespace sluice {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

SessionOptions Unfused() { return Without({"fuse_elementwise"}); }

// Numbers in [-2, 2); integers in [-4, 4).
Tensor RandomTensor(DataType dtype, const TensorShape& shape, std::mt19937& random) {
  std::vector<double> values(shape.num_elements());
  for (double& v : values) v = std::uniform_real_distribution<double>(-2, 2)(random);
  Tensor t(dtype, shape);
  for (size_t i = 0; i < values.size(); ++i) {
    switch (dtype) {
      case DT_FLOAT:
        t.data<float>()[i] = static_cast<float>(values[i]);
        break;
      case DT_DOUBLE:
        t.data<double>()[i] = values[i];
        break;
      case DT_HALF:
        t.data<half>()[i] = half(static_cast<float>(values[i]));
        break;
      default:
        t.data<int32_t>()[i] = static_cast<int32_t>(values[i] * 2);
    }
  }
  return t;
}

// A random graph of elementwise ops over a few fed values, some of which are fetched.
class RandomGraph {
 public:
  // Each shape can be broadcast to the first one. `rows` adds sums, means and softmaxes of rows.
  RandomGraph(DataType dtype, std::mt19937& random,
              const std::vector<PartialShape>& shapes = std::vector<PartialShape>(4),
              bool with_rows = false)
      : dtype_(dtype), random_(random), with_rows_(with_rows) {
    for (const PartialShape& shape : shapes) {
      values_.push_back(Placeholder(graph, dtype, shape));
      placeholders.push_back(values_.back());
    }
    const int nodes = Pick(120) + 1;
    for (int i = 0; i < nodes; ++i) values_.push_back(Add());
    for (int i = 0; i < 3; ++i) fetches.push_back(values_[placeholders.size() + Pick(nodes)]);
    fetches.push_back(values_.back());
  }

  Graph graph;
  OutputList placeholders;
  OutputList fetches;

 private:
  int Pick(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  // Mostly picks recent values, so that long chains occur.
  Output Any() {
    const int n = static_cast<int>(values_.size());
    return Pick(3) == 0 ? values_[Pick(n)] : values_[n - 1 - Pick(std::min(n, 3))];
  }
  Output Add() {
    const Output x = Any(), bias = placeholders.back();
    const int rank = x.shape().rank();
    const bool takes_bias =
        rank >= 2 && bias.shape().rank() == 1 && x.shape().dim(rank - 1) == bias.shape().dim(0);
    if (takes_bias && Pick(4) == 0) return BiasAdd(x, bias);
    if (with_rows_ && rank >= 1 && Pick(6) == 0) return Rows(x);
    if (Pick(10) == 0) return Sum(x);
    switch (Pick(dtype_ == DT_INT32 ? 6 : 10)) {
      case 0:
        return AddV2(Any(), Any());
      case 1:
        return Sub(Any(), Any());
      case 2:
        return Mul(Any(), Any());
      case 3:
        return Maximum(Any(), Any());
      case 4:
        return Neg(Any());
      case 5:
        return Cast(Less(Any(), Any()), dtype_);
      case 6:
        return Tanh(Any());
      case 7:
        return Exp(Neg(Square(Any())));
      case 8:
        return Sigmoid(Any());
      default:
        return Minimum(Abs(Any()), Any());
    }
  }

  // Sums x and random values with the same known shape.
  Output Sum(Output x) {
    OutputList terms = {x};
    for (int i = Pick(8); i > 0; --i) {
      const Output term = Any();
      const bool fits = term.shape().rank() == x.shape().rank() &&
                        term.shape().ToString() == x.shape().ToString();
      if (fits && x.shape().rank_known()) terms.push_back(term);
    }
    return AddN(terms);
  }
  Output Rows(Output x) {
    constexpr ReduceOptions kKeep = {.keep_dims = true};
    switch (Pick(dtype_ == DT_INT32 ? 3 : 5)) {
      case 0:
        return ReduceSum(x, {-1}, kKeep);
      case 1:
        return ReduceMax(x, {x.shape().rank() - 1}, kKeep);
      case 2:
        return ReduceMean(x, {-1}, kKeep);
      case 3:
        return Softmax(x);
      default:
        return LogSoftmax(x);
    }
  }

  const DataType dtype_;
  std::mt19937& random_;
  const bool with_rows_;
  OutputList values_;
};

// Compares the results of both sessions for random values of these shapes.
void ExpectSameResults(const RandomGraph& net, Session& fused, Session& unfused, DataType dtype,
                       const std::vector<TensorShape>& shapes, std::mt19937& random) {
  std::vector<Feed> feeds;
  for (size_t i = 0; i < net.placeholders.size(); ++i) {
    feeds.push_back({net.placeholders[i], RandomTensor(dtype, shapes[i], random)});
  }
  ExpectSameBits(fused.Run(feeds, net.fetches), unfused.Run(feeds, net.fetches));
}

TEST(Fusion, RandomNetsGiveTheSameBits) {
  const std::vector<std::vector<TensorShape>> shapes = {
      {{}, {}, {}, {}},
      {{7}, {7}, {7}, {7}},
      {{3000}, {}, {3000}, {}},
      {{3, 5}, {5}, {}, {3, 1}},
      {{0}, {}, {0}, {0}},
      {{1}, {}, {1}, {}},
      {{2, 2}, {2, 2}, {1}, {2, 1}},
      {{200, 701}, {200, 701}, {}, {200, 701}},
  };
  std::mt19937 random(17);
  for (DataType dtype : {DT_FLOAT, DT_DOUBLE, DT_HALF, DT_INT32}) {
    for (int round = 0; round < 12; ++round) {
      RandomGraph net(dtype, random);
      ASSERT_TRUE(net.graph.status().ok()) << net.graph.status();
      Session fused(net.graph), unfused(net.graph, Unfused());
      for (const auto& shape : shapes) {
        ExpectSameResults(net, fused, unfused, dtype, shape, random);
      }
    }
  }
}

// A bias and a vector that scales columns are applied to each row. A tile may begin and end
// anywhere in a row.
TEST(Fusion, VectorsThatMeetRowsGiveTheSameBits) {
  std::mt19937 random(18);
  for (DataType dtype : {DT_FLOAT, DT_DOUBLE, DT_HALF, DT_INT32}) {
    for (int64_t columns : {1, 3, 64, 700, 5000}) {
      RandomGraph net(dtype, random, {{-1, -1, columns}, {-1, -1, columns}, {}, {columns}});
      ASSERT_TRUE(net.graph.status().ok()) << net.graph.status();
      Session fused(net.graph), unfused(net.graph, Unfused());
      for (int64_t rows : {0, 1, 2, 37}) {
        const std::vector<TensorShape> shapes = {
            {2, rows, columns}, {2, rows, columns}, {}, {columns}};
        ExpectSameResults(net, fused, unfused, dtype, shapes, random);
      }
    }
  }
}

// The operands are masks of the last dimensions, vectors and columns. A tile has many rows, one
// row, or a part of a row. Whole rows are reduced, too.
TEST(Fusion, PartsAndRowsGiveTheSameBits) {
  std::mt19937 random(20);
  for (DataType dtype : {DT_FLOAT, DT_DOUBLE, DT_HALF, DT_INT32}) {
    for (const auto& [lines, columns] :
         {std::pair<int64_t, int64_t>{4, 16}, {3, 33}, {64, 64}, {5, 700}, {2, 1024}, {3, 1500}}) {
      for (int round = 0; round < 4; ++round) {
        RandomGraph net(dtype, random,
                        {{-1, lines, columns},
                         {-1, lines, columns},
                         {},
                         {-1, lines, 1},
                         {1, lines, columns},
                         {columns}},
                        true);
        ASSERT_TRUE(net.graph.status().ok()) << net.graph.status();
        Session fused(net.graph), unfused(net.graph, Unfused());
        for (int64_t batch : {0, 1, 7}) {
          ExpectSameResults(net, fused, unfused, dtype,
                            {{batch, lines, columns},
                             {batch, lines, columns},
                             {},
                             {batch, lines, 1},
                             {1, lines, columns},
                             {columns}},
                            random);
        }
      }
    }
  }
}

// Repeats a column over the elements of a row, as the gradient of a mean does, and adds several
// terms.
TEST(Fusion, SumsAndSpreadColumnsGiveTheSameBits) {
  std::mt19937 random(22);
  for (DataType dtype : {DT_FLOAT, DT_DOUBLE, DT_HALF, DT_INT32, DT_COMPLEX64}) {
    for (int64_t batch : {3, -1}) {
      Graph g;
      const DataType fed = dtype == DT_COMPLEX64 ? DT_FLOAT : dtype;
      const Output feed = Placeholder(g, fed, {batch, 40, 64}, "x"), x = Cast(feed, dtype);
      const Output column = ReduceMean(x, {-1}, {.keep_dims = true});
      const Output times = Constant(g, Tensor::Vector<int32_t>({1, 1, 64}));
      const Output tiled = Neg(Tile(Neg(column), times)) * x;
      const Output broadcast = BroadcastTo(column, Shape(x));
      const OutputList fetches = {AddN({x * x, tiled, Neg(x), tiled * x}), Neg(broadcast),
                                  Neg(broadcast * broadcast) + AddN({tiled, broadcast}),
                                  AddN({Neg(x), Neg(x)}), AddN({x, x, Neg(x), x}) - x};
      ASSERT_TRUE(g.status().ok()) << g.status();
      Session fused(g), unfused(g, Unfused());
      const std::vector<Feed> feeds = {{feed, RandomTensor(fed, {3, 40, 64}, random)}};
      ExpectSameBits(fused.Run(feeds, fetches), unfused.Run(feeds, fetches));
    }
  }
}

// The plan recognizes that the constant may be fed.
TEST(Fusion, MultiplesMayBeFedInPlaceOfTheirConstant) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {3, 1}, "x");
  const Output times = Constant(g, Tensor::Vector<int32_t>({1, 16}));
  const Output out = Neg(Tile(Neg(x), times));
  ASSERT_TRUE(g.status().ok()) << g.status();
  Session session(g);
  const auto result = session.Run(
      {{x, Tensor(DT_FLOAT, {3, 1})}, {times, Tensor::Vector<int32_t>({1, 20})}}, {out});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ((*result)[0].shape(), TensorShape({3, 20}));
}

TEST(Fusion, SumsOfTermsThatDifferSayWhichOne) {
  Graph g;
  OutputList terms;
  for (const char* name : {"x", "y", "z"}) {
    terms.push_back(Placeholder(g, DT_FLOAT, PartialShape(), name));
  }
  const Output sum =
      Exp(AddN({Neg(terms[0]), terms[1], Neg(terms[2])}, {.name = "sum"}), {.name = "exp"});
  ASSERT_TRUE(g.status().ok()) << g.status();
  Session session(g);
  for (const TensorShape& other : {TensorShape({3}), TensorShape()}) {
    const auto out = session.Run({{terms[0], Tensor(DT_FLOAT, {2})},
                                  {terms[1], Tensor(DT_FLOAT, {2})},
                                  {terms[2], Tensor(DT_FLOAT, other)}},
                                 {sum});
    EXPECT_THAT(std::string(out.status().message()),
                AllOf(HasSubstr(StrCat("Input 0: [2] != input 2: ", other.ToString())),
                      HasSubstr("{{node sum}}")));
  }
}

// Inputs that the plan expects to be columns or rows have other sizes in the step.
TEST(Fusion, PartsOfOtherSizesRunOneByOne) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {-1, -1, 32}, "x");
  const Output mean = Placeholder(g, DT_FLOAT, {-1, -1, 1}, "mean");
  const Output mask = Placeholder(g, DT_FLOAT, {1, 4, 32}, "mask");
  const Output out = Exp(Sub(Neg(x), mean, {.name = "minus"})) + mask;
  const Output sum = ReduceSum(out, {-1});
  ASSERT_TRUE(g.status().ok()) << g.status();
  Session session(g), unfused(g, Unfused());
  std::mt19937 random(21);
  for (const TensorShape& of_mean : {TensorShape({3, 4, 1}), TensorShape({1, 4, 1}),
                                     TensorShape({3, 1, 1}), TensorShape({5, 4, 1})}) {
    const std::vector<Feed> feeds = {{x, RandomTensor(DT_FLOAT, {3, 4, 32}, random)},
                                     {mean, RandomTensor(DT_FLOAT, of_mean, random)},
                                     {mask, RandomTensor(DT_FLOAT, {1, 4, 32}, random)}};
    const auto a = session.Run(feeds, {out, sum}), b = unfused.Run(feeds, {out, sum});
    EXPECT_EQ(a.status().message(), b.status().message());
    if (of_mean.dim(0) == 5) {
      EXPECT_THAT(std::string(a.status().message()),
                  AllOf(HasSubstr("Incompatible shapes: [3,4,32] vs. [5,4,1]"),
                        HasSubstr("{{node minus}}")));
      continue;
    }
    ExpectSameBits(a, b);
  }
}

// No op broadcasts [1, n] and a vector of n to [n]. With sizes that the plan does not know, nodes
// run one by one.
TEST(Fusion, OnlyKnownRowsAreJoined) {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {-1, -1}, "x");
  Output bias = Placeholder(g, DT_FLOAT, {3}, "bias");
  Output whole = Placeholder(g, DT_FLOAT, PartialShape(), "whole");
  Output out = Relu(BiasAdd(Neg(x), bias, {.name = "add"}));
  // The same vector as a row and as a whole tensor.
  Output both = Exp(bias) + Exp(whole * bias);
  ASSERT_TRUE(g.status().ok()) << g.status();
  Session session(g);
  const Tensor three = Tensor::Vector<float>({1, 2, 3});
  const auto sums =
      session.Run({{x, Tensor::Of<float>({2, 3}, {1, 2, 3, -1, -2, 4})}, {bias, three}}, {out});
  ASSERT_TRUE(sums.ok()) << sums.status();
  EXPECT_THAT((*sums)[0].flat<float>(), ::testing::ElementsAre(0, 0, 0, 2, 4, 0));
  const auto wrong = session.Run({{x, Tensor(DT_FLOAT, {2, 4})}, {bias, three}}, {out});
  EXPECT_THAT(std::string(wrong.status().message()),
              AllOf(HasSubstr("Must provide as many biases as the last dimension of the input "
                              "tensor: [3] vs. [2,4]"),
                    HasSubstr("{{node add}}")));
  const auto sum = session.Run({{whole, Tensor::Scalar(0.f)}, {bias, three}}, {both});
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_FLOAT_EQ((*sum)[0].flat<float>()[2], std::exp(3.f) + 1);
}

TEST(Fusion, ErrorsNameTheNodeThatFails) {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, PartialShape(), "x");
  Output y = Placeholder(g, DT_FLOAT, PartialShape(), "y");
  Output inner = Add(Neg(x), y, {.name = "inner"});
  Output outer = Exp(inner, {.name = "outer"});
  ASSERT_TRUE(g.status().ok()) << g.status();
  Session session(g);
  const auto out = session.Run({{x, Tensor(DT_FLOAT, {2})}, {y, Tensor(DT_FLOAT, {3})}}, {outer});
  EXPECT_THAT(std::string(out.status().message()),
              AllOf(HasSubstr("Incompatible shapes: [2] vs. [3]"), HasSubstr("{{node inner}}"),
                    Not(HasSubstr("{{node outer}}"))));
}

TEST(Fusion, TracesAndChecksSeeEachNode) {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {3}, "x");
  Output log = Log(Neg(x, {.name = "neg"}), {.name = "log"});
  Output one = Constant(g, 1.f);
  Output out = Mul(Add(log, one, {.name = "add"}), Constant(g, 2.f), {.name = "mul"});
  Session session(g);
  const Tensor value = Tensor::Vector<float>({-1, 2, -3});
  RunOptions options;
  options.trace = true;
  RunMetadata metadata;
  ASSERT_TRUE(session.Run({{x, value}}, {out}, {}, options, &metadata).ok());
  std::vector<std::string> names;
  for (const auto& node : metadata.step_stats->dev_stats[0].node_stats) {
    names.push_back(node.node_name);
  }
  EXPECT_THAT(names, ::testing::IsSupersetOf({"neg", "log", "add", "mul"}));
  options = {};
  options.check_numerics = true;
  const auto checked = session.Run({{x, value}}, {out}, {}, options);
  EXPECT_THAT(std::string(checked.status().message()), HasSubstr("'log'"));
}

// A node whose result two groups read is computed in both. The value behind a reference is read
// once.
TEST(Fusion, CopiesDoNotSeeLaterAssignments) {
  for (const bool of_reference : {true, false}) {
    Graph g;
    const Output x = Placeholder(g, DT_FLOAT, {3}, "x");
    Variable v(g, "v", 2.0f, {.use_resource = !of_reference});
    const Output twice = Mul(x, of_reference ? v.Ref() : v.Read());
    const Output first = Neg(Abs(twice));
    Output second;
    {
      const ControlDependencies after(g, {v.Assign(ReduceSum(first))});
      second = Neg(twice + 1.0f);
    }
    ASSERT_TRUE(g.status().ok()) << g.status();
    Session session(g);
    ASSERT_TRUE(session.Run({v.initializer()}).ok());
    const auto out = session.Run({{x, Tensor::Vector<float>({1, 2, 3})}}, {first, second});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_THAT((*out)[0].flat<float>(), ::testing::ElementsAre(-2, -4, -6));
    EXPECT_THAT((*out)[1].flat<float>(), ::testing::ElementsAre(-3, -5, -7));
  }
}

// `half` is also read by a sum, so it is stored and not recomputed; `square` is recomputed. Their
// readers are in one group and in several.
TEST(Fusion, CopiesOfCopiesGiveTheSameBits) {
  std::mt19937 random(19);
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {-1, 700}, "x");
  const Output bias = Placeholder(g, DT_FLOAT, {700}, "bias");
  const Output sum = BiasAdd(x, bias), half = sum * 0.5f, square = sum * sum, cube = square * sum;
  const Output inner = Tanh(sum + 0.1f * cube);
  const OutputList fetches = {half * (1.0f + inner), ReduceSum(half), Exp(square) - inner,
                              Neg(cube) * square, (1.0f + inner) * 2.0f};
  ASSERT_TRUE(g.status().ok()) << g.status();
  Session fused(g), unfused(g, Unfused());
  for (int64_t rows : {0, 1, 50}) {
    const std::vector<Feed> feeds = {{x, RandomTensor(DT_FLOAT, {rows, 700}, random)},
                                     {bias, RandomTensor(DT_FLOAT, {700}, random)}};
    ExpectSameBits(fused.Run(feeds, fetches), unfused.Run(feeds, fetches));
  }
}

TEST(Fusion, AWarmStepTakesNoMemory) {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, PartialShape());
  Output y = Placeholder(g, DT_FLOAT, PartialShape());
  Output out = Tanh(x * y + x) * 0.5f - y;
  Session session(g);
  absl::StatusOr<Callable> run = session.MakeCallable({x, y}, {out});
  ASSERT_TRUE(run.ok());
  for (const TensorShape& other : {TensorShape({64, 100}), TensorShape({100}), TensorShape()}) {
    const Tensor a(DT_FLOAT, {64, 100}), b(DT_FLOAT, other);
    Tensors results;
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(run->RunInto({a, b}, &results).ok());
    const int64_t before = PoolAllocator::Global().SystemAllocations();
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(run->RunInto({a, b}, &results).ok());
    EXPECT_EQ(PoolAllocator::Global().SystemAllocations(), before);
  }
}

}  // namespace
}  // namespace sluice
