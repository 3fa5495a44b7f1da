#include "ops/loops/row_index.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "ops/loops/copy_rows.h"

namespace sluice {
namespace {

template <typename Row>
int64_t FirstOutside(const std::vector<Row>& rows, int64_t limit) {
  return RowIndex(Tensor::Vector<Row>(absl::MakeConstSpan(rows))).FirstOutside(limit);
}

template <typename Row>
class FirstOutsideTest : public ::testing::Test {};
using Rows = ::testing::Types<int32_t, int64_t>;
TYPED_TEST_SUITE(FirstOutsideTest, Rows);

TYPED_TEST(FirstOutsideTest, IsTheFirstRowBelowZeroOrNotBelowTheLimit) {
  constexpr TypeParam kMost = std::numeric_limits<TypeParam>::max();
  constexpr TypeParam kLeast = std::numeric_limits<TypeParam>::min();
  EXPECT_EQ(FirstOutside<TypeParam>({}, 0), -1);
  EXPECT_EQ(FirstOutside<TypeParam>({0}, 0), 0);
  EXPECT_EQ(FirstOutside<TypeParam>({0, 4, 2}, 5), -1);
  EXPECT_EQ(FirstOutside<TypeParam>({0, 5, 7}, 5), 1);
  EXPECT_EQ(FirstOutside<TypeParam>({0, 1, -1}, 5), 2);
  EXPECT_EQ(FirstOutside<TypeParam>({kMost, kLeast}, 5), 0);
  EXPECT_EQ(FirstOutside<TypeParam>({3, kLeast}, kMost), 1);
  EXPECT_EQ(FirstOutside<TypeParam>({kMost}, kMost), 0);
}

TEST(FirstOutside, OfSmallRows) {
  const std::vector<uint8_t> bytes = {0, 255, 4};
  EXPECT_EQ(sluice::FirstOutside(bytes.data(), 3, 256), -1);
  EXPECT_EQ(sluice::FirstOutside(bytes.data(), 3, 255), 1);
  EXPECT_EQ(sluice::FirstOutside(bytes.data(), 3, 0), 0);
  const std::vector<int16_t> rows = {0, 32767, 4, -1};
  EXPECT_EQ(sluice::FirstOutside(rows.data(), 4, 40'000), 3);
  EXPECT_EQ(sluice::FirstOutside(rows.data(), 4, 32767), 1);
  EXPECT_EQ(sluice::FirstOutside(rows.data(), 1, 1), -1);
}

TEST(FirstOutside, OfALimitThatNoInt32Reaches) {
  const int64_t limit = int64_t{1} << 40;
  EXPECT_EQ(FirstOutside<int32_t>({std::numeric_limits<int32_t>::max(), 0}, limit), -1);
  EXPECT_EQ(FirstOutside<int32_t>({7, -7}, limit), 1);
  EXPECT_EQ(FirstOutside<int64_t>({limit - 1, limit}, limit), 1);
}

TEST(CopyRowsOfBytes, CopiesRowsOfAnySizeFromAnyPlace) {
  for (const size_t bytes : {1, 3, 64, 100, 128, 1024, 1088, 4096}) {
    std::vector<char> from(50 * bytes), to(40 * bytes, 'x'), expected = to;
    for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i * 31 + i / 253);
    const auto row_of = [](int64_t i) { return i * 7 % 50; };
    for (int64_t i = 3; i < 38; ++i) {
      std::copy_n(&from[row_of(i) * bytes], bytes, &expected[i * bytes]);
    }
    CopyRowsOfBytes(from.data(), bytes, row_of, 3, 38, to.data());
    EXPECT_EQ(to, expected) << bytes;
  }
}

}  // namespace
}  // namespace sluice
