// Transformed convolutions of floats are as good as direct ones of doubles allow: results and both
// gradients, whatever the edges and the number of tiles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "executor/session/session.h"
#include "graph/gradient/gradients.h"
#include "graph/strings.h"
#include "ops/array/builders.h"
#include "ops/builders/sugar.h"
#include "ops/math/builders.h"
#include "ops/nn/builders.h"

namespace sluice {
namespace {

struct Case {
  int64_t batch, height, width, in, out, filter;
  std::string padding = "SAME";
  std::vector<int64_t> paddings = {};
};

Tensor RandomFloats(const TensorShape& shape, int seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  Tensor t(DT_FLOAT, shape);
  for (float& x : t.flat<float>()) x = uniform(random);
  return t;
}

// The result, and its gradients by image and filter where the result's is what is fed.
OutputList Convolution(Output x, Output w, Output dy, const Case& c) {
  const Output y = Conv2D(x, w, {1, 1, 1, 1}, c.padding, {.explicit_paddings = c.paddings});
  OutputList all = {y};
  const absl::StatusOr<std::vector<Grad>> gradients = Gradients({y}, {x, w}, {.grad_ys = {dy}});
  for (const Grad& gradient : *gradients) all.push_back(gradient.dense());
  return all;
}

// The largest difference, as a part of the largest value.
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
  const OutputList fed = {Placeholder(g, DT_FLOAT), Placeholder(g, DT_FLOAT),
                          Placeholder(g, DT_FLOAT)};
  OutputList wide;
  for (const Output& f : fed) wide.push_back(Cast(f, DT_DOUBLE));
  OutputList fetches = Convolution(fed[0], fed[1], fed[2], c);
  for (const Output& f : Convolution(wide[0], wide[1], wide[2], c)) fetches.push_back(f);
  Session session(g, {.intra_op_threads = threads});
  return session.Run(
      {{fed[0], RandomFloats({c.batch, c.height, c.width, c.in}, 1)},
       {fed[1], RandomFloats({c.filter, c.filter, c.in, c.out}, 2)},
       {fed[2], RandomFloats({c.batch, c.height + pads[0], c.width + pads[1], c.out}, 3)}},
      fetches);
}

const Case kCases[] = {
    {2, 8, 8, 16, 16, 3},
    {3, 9, 13, 32, 48, 3},
    {1, 32, 32, 16, 32, 3, "VALID"},
    {8, 4, 5, 64, 64, 3},
    {2, 14, 14, 32, 64, 5},
    {3, 11, 7, 16, 16, 5, "VALID"},
    {1, 10, 12, 16, 48, 5, "EXPLICIT", {0, 0, 3, 1, 0, 4, 0, 0}},
    {2, 10, 10, 48, 16, 3, "EXPLICIT", {0, 0, 0, 2, 2, 0, 0, 0}},
};

TEST(Winograd, IsAsGoodAsDirectSums) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(StrCat(c.batch, "x", c.height, "x", c.width, "x", c.in, " by ", c.filter, "x",
                        c.filter, "x", c.out, " ", c.padding));
    const absl::StatusOr<Tensors> out = RunCase(c, 2);
    ASSERT_TRUE(out.ok()) << out.status();
    for (int i = 0; i < 3; ++i) {
      const double d = Difference((*out)[i], (*out)[3 + i]);
      EXPECT_LT(d, 5e-6) << "output " << i;
    }
  }
}

TEST(Winograd, GivesTheSameBitsOnAnyNumberOfThreads) {
  const Case large = {16, 32, 32, 16, 16, 3};
  const absl::StatusOr<Tensors> one = RunCase(large, 1), three = RunCase(large, 3);
  ASSERT_TRUE(one.ok() && three.ok());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(std::memcmp((*one)[i].raw(), (*three)[i].raw(), (*one)[i].bytes()), 0) << i;
  }
}

}  // namespace
}  // namespace sluice
