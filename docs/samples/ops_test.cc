// The examples on the pages of ops. A sample that has the name of an op stands on its page.

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sluice.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;

class OpSamples : public testing::Test {
 protected:
  // The elements of a tensor, row by row.
  template <typename T = float>
  std::vector<T> Elements(Output tensor) {
    EXPECT_TRUE(g.status().ok()) << g.status();
    Session session(g);
    const absl::StatusOr<Tensors> out = session.Run({}, {tensor});
    if (!out.ok()) {
      ADD_FAILURE() << out.status();
      return {};
    }
    const auto flat = (*out)[0].flat<T>();
    return std::vector<T>(flat.begin(), flat.end());
  }

  Graph g;
};

TEST_F(OpSamples, MatMul) {
  // [MatMul]
  Output a = Constant(g, {{1.0f, 2.0f}, {3.0f, 4.0f}});
  Output b = Constant(g, {{1.0f, 0.0f}, {1.0f, 1.0f}});
  Output product = MatMul(a, b);                            // {{3, 2}, {7, 4}}
  Output transposed = MatMul(a, b, {.transpose_a = true});  // {{4, 3}, {6, 4}}
  // [/MatMul]
  EXPECT_THAT(Elements(product), ElementsAre(3, 2, 7, 4));
  EXPECT_THAT(Elements(transposed), ElementsAre(4, 3, 6, 4));
}

TEST_F(OpSamples, Einsum) {
  // [Einsum]
  Output a = Constant(g, {{1.0f, 2.0f}, {3.0f, 4.0f}});
  Output b = Constant(g, {{1.0f, 0.0f}, {1.0f, 1.0f}});
  Output trace = Einsum({a}, "ii->");          // 5
  Output outer = Einsum({a, b}, "ij,kj->ik");  // a times b transposed: {{1, 3}, {3, 7}}
  // [/Einsum]
  EXPECT_THAT(Elements(trace), ElementsAre(5));
  EXPECT_THAT(Elements(outer), ElementsAre(1, 3, 3, 7));
}

TEST_F(OpSamples, GatherV2) {
  // [GatherV2]
  Output table = Constant(g, {{1.0f, 2.0f}, {3.0f, 4.0f}, {5.0f, 6.0f}});
  Output rows = GatherV2(table, Constant(g, {2, 0}), Constant(g, 0));  // {{5, 6}, {1, 2}}
  Output columns = GatherV2(table, Constant(g, {1}), Constant(g, 1));  // {{2}, {4}, {6}}
  // [/GatherV2]
  EXPECT_THAT(Elements(rows), ElementsAre(5, 6, 1, 2));
  EXPECT_THAT(Elements(columns), ElementsAre(2, 4, 6));
}

TEST_F(OpSamples, ConcatV2) {
  // [ConcatV2]
  Output a = Constant(g, {{1.0f, 2.0f}, {3.0f, 4.0f}});
  Output b = Constant(g, {{5.0f, 6.0f}, {7.0f, 8.0f}});
  Output rows = ConcatV2({a, b}, Constant(g, 0));     // {{1, 2}, {3, 4}, {5, 6}, {7, 8}}
  Output columns = ConcatV2({a, b}, Constant(g, 1));  // {{1, 2, 5, 6}, {3, 4, 7, 8}}
  // [/ConcatV2]
  EXPECT_THAT(Elements(rows), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(Elements(columns), ElementsAre(1, 2, 5, 6, 3, 4, 7, 8));
}

TEST_F(OpSamples, StridedSlice) {
  // [StridedSlice]
  Output table = Constant(g, {{1.0f, 2.0f}, {3.0f, 4.0f}, {5.0f, 6.0f}});
  // The last two rows, and of these the first column: {{3}, {5}}.
  Output part = StridedSlice(table, Constant(g, {1, 0}), Constant(g, {3, 1}), Constant(g, {1, 1}));
  // [/StridedSlice]
  EXPECT_THAT(Elements(part), ElementsAre(3, 5));
}

TEST_F(OpSamples, Transpose) {
  // [Transpose]
  Output table = Constant(g, {{1.0f, 2.0f}, {3.0f, 4.0f}, {5.0f, 6.0f}});
  Output transposed = Transpose(table, Constant(g, {1, 0}));  // {{1, 3, 5}, {2, 4, 6}}
  // [/Transpose]
  EXPECT_THAT(Elements(transposed), ElementsAre(1, 3, 5, 2, 4, 6));
}

TEST_F(OpSamples, Pad) {
  // [Pad]
  Output table = Constant(g, {{1.0f, 2.0f}, {3.0f, 4.0f}});
  // No rows before and after the rows, one column before the columns: {{0, 1, 2}, {0, 3, 4}}.
  Output padded = Pad(table, Constant(g, {{0, 0}, {1, 0}}));
  // [/Pad]
  EXPECT_THAT(Elements(padded), ElementsAre(0, 1, 2, 0, 3, 4));
}

TEST_F(OpSamples, OneHot) {
  // [OneHot]
  // {{0, 1, 0}, {0, 0, 1}}
  Output rows = OneHot(Constant(g, {1, 2}), Constant(g, 3), Constant(g, 1.0f), Constant(g, 0.0f));
  // [/OneHot]
  EXPECT_THAT(Elements(rows), ElementsAre(0, 1, 0, 0, 0, 1));
}

TEST_F(OpSamples, TopKV2) {
  // [TopKV2]
  TopKV2Outputs top = TopKV2(Constant(g, {3.0f, 9.0f, 5.0f}), Constant(g, 2));
  // top.values: {9, 5}, top.indices: {1, 2}
  // [/TopKV2]
  EXPECT_THAT(Elements(top.values), ElementsAre(9, 5));
  EXPECT_THAT(Elements<int32_t>(top.indices), ElementsAre(1, 2));
}

TEST_F(OpSamples, Unique) {
  // [Unique]
  UniqueOutputs unique = Unique(Constant(g, {7, 4, 7, 4, 8}));
  // unique.y: {7, 4, 8}, unique.idx: {0, 1, 0, 1, 2}
  // [/Unique]
  EXPECT_THAT(Elements<int32_t>(unique.y), ElementsAre(7, 4, 8));
  EXPECT_THAT(Elements<int32_t>(unique.idx), ElementsAre(0, 1, 0, 1, 2));
}

TEST_F(OpSamples, Cumsum) {
  // [Cumsum]
  Output x = Constant(g, {1.0f, 2.0f, 3.0f});
  Output sums = Cumsum(x, Constant(g, 0));                         // {1, 3, 6}
  Output before = Cumsum(x, Constant(g, 0), {.exclusive = true});  // {0, 1, 3}
  // [/Cumsum]
  EXPECT_THAT(Elements(sums), ElementsAre(1, 3, 6));
  EXPECT_THAT(Elements(before), ElementsAre(0, 1, 3));
}

TEST_F(OpSamples, ScatterNd) {
  // [ScatterNd]
  Output indices = Constant(g, {{3}, {1}});
  Output updates = Constant(g, {10.0f, 11.0f});
  Output scattered = ScatterNd(indices, updates, Constant(g, {4}));  // {0, 11, 0, 10}
  // [/ScatterNd]
  EXPECT_THAT(Elements(scattered), ElementsAre(0, 11, 0, 10));
}

TEST_F(OpSamples, UnsortedSegmentSum) {
  // [UnsortedSegmentSum]
  Output data = Constant(g, {1.0f, 2.0f, 3.0f});
  Output segments = Constant(g, {0, 1, 0});
  Output sums = UnsortedSegmentSum(data, segments, Constant(g, 2));  // {1 + 3, 2}
  // [/UnsortedSegmentSum]
  EXPECT_THAT(Elements(sums), ElementsAre(4, 2));
}

TEST_F(OpSamples, DynamicPartition) {
  // [DynamicPartition]
  Output data = Constant(g, {1.0f, 2.0f, 3.0f});
  OutputList parts = DynamicPartition(data, Constant(g, {0, 1, 0}), 2);  // {1, 3} and {2}
  // [/DynamicPartition]
  EXPECT_THAT(Elements(parts[0]), ElementsAre(1, 3));
  EXPECT_THAT(Elements(parts[1]), ElementsAre(2));
}

TEST_F(OpSamples, Conv2D) {
  // [Conv2D]
  Output images = Constant(g, Tensor::Of<float>({1, 3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9}));
  Output filter = Constant(g, Tensor::Of<float>({2, 2, 1, 1}, {1, 0, 0, 1}));
  // Each pixel plus the one below and to the right of it: 6, 8, 12, 14 of shape [1, 2, 2, 1].
  Output features = Conv2D(images, filter, {1, 1, 1, 1}, "VALID");
  // [/Conv2D]
  EXPECT_THAT(Elements(features), ElementsAre(6, 8, 12, 14));
}

TEST_F(OpSamples, MaxPool) {
  // [MaxPool]
  Output images = Constant(g, Tensor::Of<float>({1, 3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9}));
  // The largest of each square of two by two pixels: 5, 6, 8, 9 of shape [1, 2, 2, 1].
  Output pooled = MaxPool(images, {1, 2, 2, 1}, {1, 1, 1, 1}, "VALID");
  // [/MaxPool]
  EXPECT_THAT(Elements(pooled), ElementsAre(5, 6, 8, 9));
}

TEST_F(OpSamples, SparseSoftmaxCrossEntropyWithLogits) {
  // [SparseSoftmaxCrossEntropyWithLogits]
  Output logits = Constant(g, {{0.0f, 0.0f}, {0.0f, 100.0f}});
  Output labels = Constant(g, {0, 1});
  Output losses = SparseSoftmaxCrossEntropyWithLogits(logits, labels).loss;  // {log(2), 0}
  // [/SparseSoftmaxCrossEntropyWithLogits]
  EXPECT_THAT(Elements(losses), ElementsAre(FloatNear(0.6931f, 1e-4f), FloatNear(0, 1e-4f)));
}

}  // namespace
}  // namespace sluice
