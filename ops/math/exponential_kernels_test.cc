// On processors with AVX-512, Exp, Sigmoid and Tanh of floats have separate implementations. Their
// results must be exact within a few units of the last place, for any number of elements.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "executor/session/session.h"
#include "ops/array/builders.h"
#include "ops/math/builders.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

struct Function {
  const char* name;
  Output (*op)(Output);
  double (*exact)(double);
  double most_ulp;
};
const Function kFunctions[] = {
    {"Exp", [](Output x) { return Exp(x); }, [](double x) { return std::exp(x); }, 4},
    {"Sigmoid", [](Output x) { return Sigmoid(x); },
     [](double x) { return 1 / (1 + std::exp(-x)); }, 4},
    {"Tanh", [](Output x) { return Tanh(x); }, [](double x) { return std::tanh(x); }, 6},
};

std::vector<float> ValuesOf(const Function& function, const std::vector<float>& values) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, PartialShape());
  const Output y = function.op(x);
  Session session(g);
  const absl::StatusOr<Tensors> out = session.Run({{x, Tensor::Vector<float>(values)}}, {y});
  EXPECT_TRUE(out.ok()) << out.status();
  if (!out.ok()) return {};
  return std::vector<float>(out->at(0).data<float>(), out->at(0).data<float>() + values.size());
}

TEST(ExponentialKernels, AreCloseOverTheWholeRange) {
  std::vector<float> values;
  for (double size = 1e-6; size < 110; size *= 1.0007) {
    values.push_back(static_cast<float>(size));
    values.push_back(static_cast<float>(-size));
  }
  for (const Function& function : kFunctions) {
    const std::vector<float> found = ValuesOf(function, values);
    ASSERT_EQ(found.size(), values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const double exact = function.exact(values[i]);
      if (exact > std::numeric_limits<float>::max()) {
        EXPECT_EQ(found[i], std::numeric_limits<float>::infinity()) << values[i];
        continue;
      }
      const double least = std::numeric_limits<float>::min();  // smaller results may be 0
      const double ulp = std::ldexp(1.0, std::ilogb(std::max(std::abs(exact), least)) - 23);
      const double allowed = std::abs(exact) < least ? least : function.most_ulp * ulp;
      EXPECT_NEAR(found[i], exact, allowed) << function.name << " of " << values[i];
      if (function.op != kFunctions[0].op) {
        EXPECT_LE(std::abs(found[i]), 1) << values[i];
      }
    }
  }
}

TEST(ExponentialKernels, GiveTheSameForEachNumberOfElements) {
  for (const Function& function : kFunctions) {
    std::vector<float> values;
    for (int n = 1; n < 70; ++n) {
      values.push_back(0.37f * static_cast<float>(n) - 11);
      const std::vector<float> all = ValuesOf(function, values);
      ASSERT_EQ(all.size(), values.size());
      const std::vector<float> last = ValuesOf(function, {values.back()});
      EXPECT_FLOAT_EQ(all.back(), last[0]) << function.name << " of " << n;
    }
  }
}

TEST(ExponentialKernels, OfWhatIsNoOrdinaryNumber) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {kInfinity, -kInfinity, std::nanf(""), 0, -0.f, 1e-40f};
  const std::vector<float> exp = ValuesOf(kFunctions[0], values);
  EXPECT_EQ(exp[0], kInfinity);
  EXPECT_EQ(exp[1], 0);
  EXPECT_TRUE(std::isnan(exp[2]));
  for (int i = 3; i < 6; ++i) EXPECT_EQ(exp[i], 1);
  const std::vector<float> sigmoid = ValuesOf(kFunctions[1], values);
  EXPECT_EQ(sigmoid[0], 1);
  EXPECT_EQ(sigmoid[1], 0);
  EXPECT_TRUE(std::isnan(sigmoid[2]));
  for (int i = 3; i < 6; ++i) EXPECT_EQ(sigmoid[i], 0.5f);
  const std::vector<float> tanh = ValuesOf(kFunctions[2], values);
  EXPECT_EQ(tanh[0], 1);
  EXPECT_EQ(tanh[1], -1);
  EXPECT_TRUE(std::isnan(tanh[2]));
  EXPECT_EQ(tanh[3], 0);
  EXPECT_TRUE(std::signbit(tanh[4]));
  EXPECT_NEAR(tanh[5], 1e-40f, 1e-44);
}

}  // namespace
}  // namespace sluice
