// Accumulated sums equal sums of stored terms.
#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sluice.h"
#include "tests/passes/pass_checks.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

SessionOptions Apart() { return Without({"accumulate_sums"}); }

// For this many rows, the sum computes all terms at once, or adds one after the other.
constexpr int64_t kFewRows = 3, kManyRows = 8;

// A weight that each step of an unrolled network uses. Its gradient is a sum of matmuls.
struct Unrolled {
  int64_t rows;
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {rows, 12}, "x");
  Output w = Placeholder(g, DT_FLOAT, {12, 12}, "w");
  Output gradient;

  Unrolled(int64_t rows, int steps) : rows(rows) {
    Output h = x;
    for (int i = 0; i < steps; ++i) h = Tanh(MatMul(h, w));
    gradient = (*Gradients({ReduceSum(h)}, {w}))[0].dense();
  }
  absl::StatusOr<Tensors> Run(SessionOptions options, RunMetadata* metadata = nullptr) {
    Session session(g, std::move(options));
    return session.Run({{x, RandomFloats({rows, 12}, 1)}, {w, RandomFloats({12, 12}, 2)}},
                       {gradient}, {}, {.trace = metadata != nullptr}, metadata);
  }
};

void ExpectNear(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const float x = a.data<float>()[i], y = b.data<float>()[i];
    EXPECT_LE(std::abs(x - y), 1e-6f * std::max(1.0f, std::abs(y))) << i;
  }
}

TEST(RunningSum, IsTheSumOfTermsThatAreKept) {
  for (const int64_t rows : {kFewRows, kManyRows}) {
    for (const int steps : {2, 3, 20, 40}) {
      Unrolled network(rows, steps);
      const absl::StatusOr<Tensors> found = network.Run({}), expected = network.Run(Apart());
      ASSERT_TRUE(found.ok() && expected.ok()) << found.status() << expected.status();
      ExpectNear((*found)[0], (*expected)[0]);
    }
  }
}

// TensorFlow's graphs have identities with control inputs between the terms of a gradient and its
// sum. Here the first term waits for the last one through such an identity.
TEST(RunningSum, TermsMayWaitForEachOther) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {3, 4}, "x");
  const Output w = Placeholder(g, DT_FLOAT, {4, 5}, "w");
  const Output last = MatMul(x, w * 3.0f);
  Output first, passed_last;
  {
    ControlDependencies after(g, {last});
    passed_last = Identity(last);
    first = MatMul(x, w);
  }
  const Output sum = AddN({Identity(first), MatMul(x, w * 2.0f), passed_last});
  const Feed feeds[] = {{x, RandomFloats({3, 4}, 1)}, {w, RandomFloats({4, 5}, 2)}};
  Session session(g), apart(g, Apart());
  const absl::StatusOr<Tensors> found = session.Run(feeds, {sum}), kept = apart.Run(feeds, {sum});
  ASSERT_TRUE(found.ok() && kept.ok()) << found.status();
  ExpectNear((*found)[0], (*kept)[0]);
}

// A term is not overwritten while a trace or the caller reads it.
TEST(RunningSum, TermsThatAreFetchedStayWhole) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {3, 4}, "x");
  const Output w = Placeholder(g, DT_FLOAT, {4, 5}, "w");
  const Output first = MatMul(x, w), second = MatMul(x, w * 2.0f), third = MatMul(x, w * 3.0f);
  const Output sum = AddN({first, second, third});
  const Tensor xs = RandomFloats({3, 4}, 1), ws = RandomFloats({4, 5}, 2);
  Session session(g);
  const absl::StatusOr<Tensors> out = session.Run({{x, xs}, {w, ws}}, {first, second, sum});
  ASSERT_TRUE(out.ok()) << out.status();
  for (int64_t i = 0; i < 15; ++i) {
    EXPECT_NEAR((*out)[1].data<float>()[i], 2 * (*out)[0].data<float>()[i], 1e-5);
    EXPECT_NEAR((*out)[2].data<float>()[i], 6 * (*out)[0].data<float>()[i], 1e-5);
  }
}

TEST(RunningSum, TermsAreMadeAtOnceInAnyType) {
  for (const DataType type : {DT_DOUBLE, DT_COMPLEX64, DT_INT32, DT_HALF}) {
    Graph g;
    std::vector<Output> terms;
    for (uint32_t i = 0; i < 4; ++i) {
      const Output a = Cast(Constant(g, RandomFloats({3, 40}, i)) * 9.0f, type);
      const Output b = Cast(Constant(g, RandomFloats({3, 50}, i + 9)) * 9.0f, type);
      terms.push_back(MatMul(a, b, {.transpose_a = true}));
    }
    const Output sum = Cast(AddN(terms), DT_FLOAT);
    Session session(g, Without({"fold_constants"}));
    Session apart(g, Without({"fold_constants", "accumulate_sums"}));
    const absl::StatusOr<Tensors> found = session.Run({}, {sum}), kept = apart.Run({}, {sum});
    ASSERT_TRUE(found.ok() && kept.ok()) << found.status() << kept.status();
    ExpectNear((*found)[0], (*kept)[0]);
  }
}

TEST(RunningSum, IsWatchedLikeOthers) {
  for (const int64_t rows : {kFewRows, kManyRows}) {
    Unrolled network(rows, 4);
    RunMetadata metadata;
    const absl::StatusOr<Tensors> found = network.Run({}, &metadata),
                                  expected = network.Run(Apart());
    ASSERT_TRUE(found.ok() && expected.ok());
    ExpectNear((*found)[0], (*expected)[0]);
    Session session(network.g);
    Tensor bad = RandomFloats({12, 12}, 2);
    bad.data<float>()[0] = NAN;
    const absl::StatusOr<Tensors> checked =
        session.Run({{network.x, RandomFloats({rows, 12}, 1)}, {network.w, bad}},
                    {network.gradient}, {}, {.check_numerics = true});
    EXPECT_THAT(checked.status().message(), HasSubstr("expected finite numbers"));
  }
}

// AddN reports shapes that are known only in the step.
TEST(RunningSum, TermsOfDifferentShapesAreRefusedByTheSum) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, PartialShape(), "x");
  const Output y = Placeholder(g, DT_FLOAT, PartialShape(), "y");
  const Output sum = AddN({MatMul(x, x), MatMul(y, y)});
  Session session(g);
  const absl::StatusOr<Tensors> out =
      session.Run({{x, RandomFloats({2, 2}, 1)}, {y, RandomFloats({3, 3}, 2)}}, {sum});
  EXPECT_THAT(out.status().message(), HasSubstr("must have the same size and shape"));
}

}  // namespace
}  // namespace sluice
