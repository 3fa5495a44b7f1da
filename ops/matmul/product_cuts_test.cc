// Cuts products by rows, by columns and by depth, into whole and partial tiles. Results must equal
// those of a single loop. Numbers are small integers, so that sums are exact in any order.
#include <gtest/gtest.h>

#include <cstring>

#include "executor/session/session.h"
#include "ops/array/builders.h"
#include "ops/matmul/builders.h"
#include "ops/matmul/product_tiles.h"

namespace sluice {
namespace {

Tensor Numbers(int64_t rows, int64_t columns, int seed) {
  Tensor t(DT_FLOAT, TensorShape({rows, columns}));
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    t.data<float>()[i] = static_cast<float>((i * 7 + seed) % 11 - 5);
  }
  return t;
}

struct Transposes {
  bool a = false, b = false;
};

Tensor ProductOf(const Tensor& a, const Tensor& b, Transposes transposes, int threads) {
  Graph g;
  const Output pa = Placeholder(g, DT_FLOAT), pb = Placeholder(g, DT_FLOAT);
  const Output product = MatMul(pa, pb, {.transpose_a = transposes.a, .transpose_b = transposes.b});
  Session session(g, {.intra_op_threads = threads});
  const absl::StatusOr<Tensors> out = session.Run({{pa, a}, {pb, b}}, {product});
  EXPECT_TRUE(out.ok()) << out.status();
  return out.ok() ? out->at(0) : Tensor();
}

float At(const Tensor& t, bool transposed, int64_t row, int64_t column) {
  return t.data<float>()[transposed ? column * t.dim(1) + row : row * t.dim(1) + column];
}

void ExpectProduct(const Tensor& a, const Tensor& b, Transposes transposes) {
  const Tensor c = ProductOf(a, b, transposes, 2);
  const int64_t k = a.dim(transposes.a ? 0 : 1);
  for (int64_t i = 0; i < c.dim(0); ++i) {
    for (int64_t j = 0; j < c.dim(1); ++j) {
      float sum = 0;
      for (int64_t d = 0; d < k; ++d) sum += At(a, transposes.a, i, d) * At(b, transposes.b, d, j);
      ASSERT_EQ(At(c, false, i, j), sum) << "at " << i << "," << j;
    }
  }
}

struct Size {
  int64_t m, n, k;
};

TEST(ProductCuts, GiveWhatOneLoopDoes) {
  for (const Size s :
       {Size{16, 130, 2048}, Size{17, 333, 1201}, Size{32, 512, 400},  // cut by depth
        Size{32, 512, 256}, Size{37, 130, 256}, Size{64, 300, 90},     // cut by rows
        Size{32, 128, 512}, Size{128, 512, 300}, Size{150, 512, 256}, Size{513, 200, 300}}) {
    for (const Transposes t : {Transposes{}, {true, false}, {false, true}, {true, true}}) {
      SCOPED_TRACE(absl::StrCat(s.m, "x", s.n, "x", s.k, " ", t.a, t.b));
      ExpectProduct(t.a ? Numbers(s.k, s.m, 1) : Numbers(s.m, s.k, 1),
                    t.b ? Numbers(s.n, s.k, 4) : Numbers(s.k, s.n, 4), t);
    }
  }
}

Products ProductOfSizes(const Size& s, Transposes t) {
  const TensorShape a = t.a ? TensorShape({s.k, s.m}) : TensorShape({s.m, s.k});
  const TensorShape b = t.b ? TensorShape({s.n, s.k}) : TensorShape({s.k, s.n});
  return {
      .a = LayoutOf(a, t.a, false), .b = LayoutOf(b, t.b, false), .a_starts = {0}, .b_starts = {0}};
}

TEST(ProductCuts, LargeWeightsAreCutByTheirRows) {
  const int64_t cores = DepthParts(ProductOfSizes({16, 4096, 1 << 16}, {}));
  if (cores == 1) return;  // the machine has one core, or a matrix unit
  const Size large{64, 2048, 128 * cores};
  EXPECT_EQ(DepthParts(ProductOfSizes(large, {})), cores);
  // The depth is not cut if the sums are as large as the weights, the weights fit into the cache of
  // each core, there is only one row, or an operand is transposed.
  EXPECT_EQ(DepthParts(ProductOfSizes({large.m, large.n, large.k - 1}, {})), 1);
  EXPECT_EQ(DepthParts(ProductOfSizes({16, 128, 32 * cores}, {})), 1);
  EXPECT_EQ(DepthParts(ProductOfSizes({1, large.n, large.k}, {})), 1);
  EXPECT_EQ(DepthParts(ProductOfSizes(large, {true, false})), 1);
  EXPECT_EQ(DepthParts(ProductOfSizes(large, {false, true})), 1);
}

// The cut must depend only on the sizes and the machine.
TEST(ProductCuts, DoNotDependOnThreads) {
  Tensor a = Numbers(32, 1203, 1), b = Numbers(1203, 512, 4);
  for (Tensor* t : {&a, &b}) {
    for (int64_t i = 0; i < t->num_elements(); ++i) t->data<float>()[i] *= 0.37f;
  }
  const Tensor alone = ProductOf(a, b, {}, 1);
  for (int threads : {2, 5}) {
    const Tensor product = ProductOf(a, b, {}, threads);
    ASSERT_EQ(product.bytes(), alone.bytes());
    EXPECT_EQ(std::memcmp(product.raw(), alone.raw(), alone.bytes()), 0);
  }
}

}  // namespace
}  // namespace sluice
