// Joins and splits rows by JoinRows and SplitRows. Also tests the cases in which they are copied
// part by part: few rows, short rows, long rows, strings and empty rows.
#include "ops/loops/row_parts.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "executor/session/session.h"
#include "ops/array/builders.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

template <typename T>
T Number(int64_t i) {
  if constexpr (std::is_same_v<T, std::string>) {
    return "number " + std::to_string(i);
  } else {
    return static_cast<T>(i);
  }
}

// Joins parts of shapes [outer, width, inner] for these widths along the middle dimension, and
// splits the result again.
template <typename T>
void ExpectThereAndBack(int64_t outer, const std::vector<int64_t>& widths, int64_t inner) {
  Graph g;
  Tensors parts;
  std::vector<Output> pieces;
  std::vector<Feed> feeds;
  const int64_t width = std::accumulate(widths.begin(), widths.end(), int64_t{0});
  int64_t offset = 0;
  for (const int64_t w : widths) {
    Tensor part(kDataTypeOf<T>, {outer, w, inner});
    for (int64_t i = 0; i < part.num_elements(); ++i) {
      const int64_t row = i / (w * inner), at = i % (w * inner);
      part.data<T>()[i] = Number<T>((row * width + offset) * inner + at);
    }
    pieces.push_back(Placeholder(g, kDataTypeOf<T>));
    feeds.push_back({pieces.back(), part});
    parts.push_back(part);
    offset += w;
  }
  const Output whole = Concat(pieces, 1);
  const OutputList back = SplitV(whole, Constant(g, Tensor::Vector<int64_t>(widths)),
                                 Constant(g, 1), static_cast<int64_t>(widths.size()));
  std::vector<Output> fetches(back.begin(), back.end());
  fetches.push_back(whole);
  Session session(g, {.intra_op_threads = 2});
  const absl::StatusOr<Tensors> out = session.Run(feeds, fetches);
  ASSERT_TRUE(out.ok()) << out.status();
  for (int64_t i = 0; i < out->back().num_elements(); ++i) {
    ASSERT_EQ(out->back().data<T>()[i], Number<T>(i));
  }
  for (size_t p = 0; p < parts.size(); ++p) {
    ASSERT_EQ(out->at(p).shape(), parts[p].shape());
    for (int64_t i = 0; i < parts[p].num_elements(); ++i) {
      ASSERT_EQ(out->at(p).data<T>()[i], parts[p].data<T>()[i]) << "part " << p;
    }
  }
}

TEST(RowParts, AreJoinedAndSplit) {
  for (const int64_t outer : {2, 16, 33, 700}) {
    for (const int64_t inner : {1, 5, 64}) {
      SCOPED_TRACE(absl::StrCat(outer, " rows, ", inner, " elements"));
      ExpectThereAndBack<float>(outer, {128, 128}, inner);
      ExpectThereAndBack<float>(outer, {3, 40, 0, 1}, inner);
      ExpectThereAndBack<uint8_t>(outer, {1, 2, 3}, inner);
      ExpectThereAndBack<int64_t>(outer, {9, 8, 7, 6, 5}, inner);
      ExpectThereAndBack<std::string>(outer, {9, 8}, inner);
    }
  }
  ExpectThereAndBack<float>(17, {20'000, 5}, 1);
}

TEST(RowParts, AreChosenBySize) {
  const auto suit = [](int64_t rows, const std::vector<int64_t>& bytes) {
    return SuitRows(rows, std::ssize(bytes),
                    std::accumulate(bytes.begin(), bytes.end(), int64_t{0}));
  };
  EXPECT_TRUE(suit(32, {512, 512}));
  EXPECT_TRUE(suit(512, {64, 0, 52}));
  EXPECT_FALSE(suit(15, {512, 512}));         // few rows
  EXPECT_FALSE(suit(512, {4, 4, 4}));         // short rows
  EXPECT_FALSE(suit(512, {20'000, 20'000}));  // long rows
}

}  // namespace
}  // namespace sluice
