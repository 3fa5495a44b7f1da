// Checks float convolutions, which have faster algorithms (winograd.h, direct_conv.h), against
// double ones: results and both gradients, for various edges and strides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "executor/session/session.h"
#include "graph/gradient/gradients.h"
#include "graph/strings.h"
#include "ops/array/builders.h"
#include "ops/conv/builders.h"
#include "ops/math/builders.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

struct Case {
  int64_t batch, height, width, in, out, filter;
  std::string padding = "SAME";
  std::vector<int64_t> paddings = {};
  int64_t stride = 1;
};

Tensor RandomFloats(const TensorShape& shape, int seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  Tensor t(DT_FLOAT, shape);
  for (float& x : t.flat<float>()) x = uniform(random);
  return t;
}

// Returns the convolution and its gradients with respect to x and w, given the gradient dy.
OutputList Convolution(Output x, Output w, Output dy, const Case& c) {
  const Output y =
      Conv2D(x, w, {1, c.stride, c.stride, 1}, c.padding, {.explicit_paddings = c.paddings});
  OutputList all = {y};
  const absl::StatusOr<std::vector<Grad>> gradients = Gradients({y}, {x, w}, {.grad_ys = {dy}});
  for (const Grad& gradient : *gradients) all.push_back(gradient.dense());
  return all;
}

// Returns the largest difference divided by the largest expected value.
double Difference(const Tensor& found, const Tensor& expected) {
  double difference = 0, size = 0;
  for (int64_t i = 0; i < found.num_elements(); ++i) {
    const double wanted = expected.data<double>()[i];
    difference =
        std::max(difference, std::abs(static_cast<double>(found.data<float>()[i]) - wanted));
    size = std::max(size, std::abs(wanted));
  }
  return difference / size;
}

absl::StatusOr<Tensors> RunCase(const Case& c, int threads) {
  Graph g;
  int64_t pads[2] = {0, 0};
  if (c.padding == "VALID") pads[0] = pads[1] = 1 - c.filter;
  if (c.padding == "EXPLICIT") {
    pads[0] = c.paddings[2] + c.paddings[3] + 1 - c.filter;
    pads[1] = c.paddings[4] + c.paddings[5] + 1 - c.filter;
  }
  const int64_t sizes[2] = {(c.height + pads[0] + c.stride - 1) / c.stride,
                            (c.width + pads[1] + c.stride - 1) / c.stride};
  const OutputList fed = {Placeholder(g, DT_FLOAT), Placeholder(g, DT_FLOAT),
                          Placeholder(g, DT_FLOAT)};
  OutputList wide;
  for (const Output& f : fed) wide.push_back(Cast(f, DT_DOUBLE));
  OutputList fetches = Convolution(fed[0], fed[1], fed[2], c);
  for (const Output& f : Convolution(wide[0], wide[1], wide[2], c)) fetches.push_back(f);
  Session session(g, {.intra_op_threads = threads});
  return session.Run({{fed[0], RandomFloats({c.batch, c.height, c.width, c.in}, 1)},
                      {fed[1], RandomFloats({c.filter, c.filter, c.in, c.out}, 2)},
                      {fed[2], RandomFloats({c.batch, sizes[0], sizes[1], c.out}, 3)}},
                     fetches);
}

const Case kCases[] = {
    {2, 8, 8, 16, 16, 3},
    {3, 9, 13, 32, 48, 3},
    {1, 32, 32, 16, 32, 3, "VALID"},
    {8, 4, 5, 64, 64, 3},
    {2, 14, 14, 32, 64, 5},
    {5, 4, 9, 48, 32, 5},
    // In these, a line has more tiles than a strip.
    {2, 7, 41, 16, 16, 3},
    {1, 9, 38, 32, 16, 5},
    {3, 11, 7, 16, 16, 5, "VALID"},
    {1, 10, 12, 16, 48, 5, "EXPLICIT", {0, 0, 3, 1, 0, 4, 0, 0}},
    {2, 10, 10, 48, 16, 3, "EXPLICIT", {0, 0, 0, 2, 2, 0, 0, 0}},
    // These use direct_conv.h.
    {5, 9, 11, 1, 32, 5},
    {4, 13, 28, 3, 16, 3},
    {6, 12, 15, 16, 32, 3, "SAME", {}, 2},
    {4, 17, 13, 7, 48, 7, "SAME", {}, 3},
    {9, 8, 8, 16, 64, 1, "SAME", {}, 2},
    {4, 10, 9, 5, 16, 2, "VALID"},
    {4, 8, 8, 6, 16, 3, "EXPLICIT", {0, 0, 0, 2, 3, 1, 0, 0}},
};

TEST(FloatConvolution, IsThatOfDoubles) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(StrCat(c.batch, "x", c.height, "x", c.width, "x", c.in, " by ", c.filter, "x",
                        c.filter, "x", c.out, " ", c.padding));
    const absl::StatusOr<Tensors> out = RunCase(c, 2);
    ASSERT_TRUE(out.ok()) << out.status();
    for (int i = 0; i < 3; ++i) {
      const double d = Difference((*out)[i], (*out)[3 + i]);
      EXPECT_LT(d, c.filter == 5 ? 1e-5 : 5e-6) << "output " << i;
    }
  }
}

TEST(FloatConvolution, GivesTheSameBitsOnAnyNumberOfThreads) {
  for (const int64_t stride : {1, 2}) {
    const Case large = {16, 32, 32, 16, 16, 3, "SAME", {}, stride};
    const absl::StatusOr<Tensors> one = RunCase(large, 1), three = RunCase(large, 3);
    ASSERT_TRUE(one.ok() && three.ok());
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(std::memcmp((*one)[i].raw(), (*three)[i].raw(), (*one)[i].bytes()), 0) << i;
    }
  }
}

// direct_conv.h once wrote beyond the copy of the image if the padding was so wide that no filter
// reached the image.
TEST(FloatConvolution, GivesZerosWhereNoFilterReachesTheImage) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT), w = Placeholder(g, DT_FLOAT);
  const Output y =
      Conv2D(x, w, {1, 1, 5, 1}, "EXPLICIT", {.explicit_paddings = {0, 0, 0, 0, 19, 0, 0, 0}});
  const absl::StatusOr<Tensors> out = Session(g, {}).Run(
      {{x, RandomFloats({4, 1, 1, 3}, 1)}, {w, RandomFloats({1, 1, 3, 16}, 2)}}, OutputList{y});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)[0].shape(), TensorShape({4, 1, 4, 16}));
  EXPECT_THAT((*out)[0].flat<float>(), testing::Each(0.0f));
}

// The number of channels is known only during the step. If it is 0, the number of groups would be
// computed by a division by zero.
TEST(FloatConvolution, OfNoChannelsIsRefused) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT), w = Placeholder(g, DT_FLOAT);
  const Output y = Conv2D(x, w, {1, 1, 1, 1}, "SAME");
  const absl::StatusOr<Tensors> out = Session(g, {}).Run(
      {{x, Tensor(DT_FLOAT, {1, 2, 2, 0})}, {w, RandomFloats({1, 1, 1, 1}, 2)}}, OutputList{y});
  EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(out.status().message(), testing::HasSubstr("number of groups"));
}

// The sum of two such paddings would make the number of elements overflow.
TEST(FloatConvolution, OfGiganticPaddingIsRefused) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT), w = Placeholder(g, DT_FLOAT);
  constexpr int64_t kFar = int64_t{1} << 32;
  const Output y =
      Conv2D(x, w, {1, 1, 1, 1}, "EXPLICIT", {.explicit_paddings = {0, 0, kFar, 0, kFar, 0, 0, 0}});
  const absl::StatusOr<Tensors> out = Session(g, {}).Run(
      {{x, RandomFloats({1, 2, 2, 1}, 1)}, {w, RandomFloats({1, 1, 1, 1}, 2)}}, OutputList{y});
  EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(out.status().message(), testing::HasSubstr("too many elements"));
}

}  // namespace
}  // namespace sluice
