#include "ops/pipeline/index_permutation.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace sluice {
namespace {

// The sizes are on both sides of those at which the block grows.
TEST(IndexPermutationTest, HasEveryNumberOnce) {
  for (const uint64_t size : {1, 2, 5, 255, 256, 257, 65535, 65536, 65537, 262145}) {
    const IndexPermutation permutation(size, {3, 0xffffffff, 77});
    std::vector<int> counts(size);
    for (uint64_t i = 0; i < size; ++i) {
      const uint64_t number = permutation(i);
      ASSERT_LT(number, size);
      ++counts[number];
    }
    EXPECT_EQ(counts, std::vector<int>(size, 1)) << size;
  }
}

TEST(IndexPermutationTest, DependsOnEachWordOfTheKey) {
  const auto first_numbers = [](const std::array<uint32_t, 3>& key) {
    const IndexPermutation permutation(1000000, key);
    std::vector<uint64_t> numbers;
    for (uint64_t i = 0; i < 8; ++i) numbers.push_back(permutation(i));
    return numbers;
  };
  const std::vector<uint64_t> numbers = first_numbers({1, 2, 3});
  EXPECT_NE(numbers, first_numbers({0, 2, 3}));
  EXPECT_NE(numbers, first_numbers({1, 0, 3}));
  EXPECT_NE(numbers, first_numbers({1, 2, 0}));
}

}  // namespace
}  // namespace sluice
