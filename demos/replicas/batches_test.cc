#include "demos/replicas/batches.h"

#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice::demos {
namespace {

using ::testing::ElementsAreArray;

// Images with one pixel. Labels are their numbers.
Dataset Numbered(int64_t images) {
  Dataset data{Tensor(DT_FLOAT, {images, 1, 1, 1}), Tensor(DT_INT32, {images})};
  for (int64_t i = 0; i < images; ++i) {
    data.images.data<float>()[i] = static_cast<float>(i);
    data.labels.data<int32_t>()[i] = static_cast<int32_t>(i);
  }
  return data;
}

std::vector<int32_t> Labels(const Dataset& batch) {
  const auto labels = batch.labels.flat<int32_t>();
  return {labels.begin(), labels.end()};
}

TEST(BatchesTest, EveryPassSeesEveryImageOnceInAnOrderOfItsOwn) {
  const Dataset data = Numbered(12);
  Batches batches(data, 4, 7);
  std::set<std::vector<int32_t>> orders;
  for (int64_t pass = 0; pass < 3; ++pass) {
    std::vector<int32_t> order;
    for (int64_t i = 0; i < 3; ++i) {
      for (const int32_t label : Labels(batches.At(3 * pass + i))) order.push_back(label);
    }
    EXPECT_EQ(std::set<int32_t>(order.begin(), order.end()).size(), 12u);
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 3u);
}

TEST(BatchesTest, ABatchIsTheSameWhereverTheRunBegan) {
  const Dataset data = Numbered(10);
  Batches all(data, 4, 3);  // some batches cross the end of a pass
  std::vector<std::vector<int32_t>> expected;
  for (int64_t i = 0; i < 8; ++i) expected.push_back(Labels(all.At(i)));
  for (int64_t begin = 0; begin < 8; ++begin) {
    Batches later(data, 4, 3);
    for (int64_t i = begin; i < 8; ++i) {
      EXPECT_THAT(Labels(later.At(i)), ElementsAreArray(expected[i])) << "from " << begin;
    }
  }
  EXPECT_NE(Labels(Batches(data, 4, 4).At(0)), expected[0]) << "another seed";
}

}  // namespace
}  // namespace sluice::demos
