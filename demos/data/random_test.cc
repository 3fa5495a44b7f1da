#include "demos/data/random.h"

#include <gtest/gtest.h>

#include <set>

namespace sluice::demos {
namespace {

TEST(Random, NeighbouringSeedsShareNoNumbers) {
  std::set<uint64_t> seen;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(seen.insert(random.Bits()).second) << seed;
  }
}

TEST(Random, ASeedGivesTheSameNumbersEverywhere) {
  Random random(7);
  const uint64_t first = random.Bits();
  EXPECT_EQ(Random(7).Bits(), first);
  EXPECT_EQ(first, 0xb8b4c2977eabce45u);
}

TEST(Random, NumbersAreUniform) {
  Random random(1);
  double sum = 0, squares = 0;
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.Uniform();
    ASSERT_TRUE(x >= 0 && x < 1);
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.01);
  EXPECT_NEAR(squares / kDraws, 1.0 / 3, 0.01);
}

}  // namespace
}  // namespace sluice::demos
