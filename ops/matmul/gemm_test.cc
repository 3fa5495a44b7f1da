#include "ops/matmul/gemm.h"

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace sluice {
namespace {

template <typename T>
class GemmTest : public testing::Test {
 public:
  static T Number(int64_t i) { return T(static_cast<int>(i * 7 % 19 - 9)); }
};
using Types = testing::Types<float, double, int16_t, int32_t, int64_t, std::complex<float>,
                             std::complex<double>>;
TYPED_TEST_SUITE(GemmTest, Types);

// Numbers are small integers, so that sums do not depend on the order.
TYPED_TEST(GemmTest, MultipliesAllShapesAndTransposes) {
  using T = TypeParam;
  struct Size {
    int64_t m, n, k;
  };
  for (Size s : {Size{1, 1, 1}, Size{2, 3, 4}, Size{7, 9, 11}, Size{1, 40, 5}, Size{40, 1, 5},
                 Size{101, 67, 300}, Size{17, 200, 33}, Size{45, 150, 1100}, Size{90, 16, 1030},
                 Size{29, 10, 1030}, Size{33, 5, 1030}, Size{40, 4, 16}, Size{70, 40, 5}}) {
    std::vector<T> a(s.m * s.k), b(s.k * s.n), c(s.m * s.n, T(99));
    for (size_t i = 0; i < a.size(); ++i) a[i] = this->Number(i);
    for (size_t i = 0; i < b.size(); ++i) b[i] = this->Number(i + 3);
    for (int transposes = 0; transposes < 4; ++transposes) {
      const MatrixView<T> va =
          transposes & 1 ? MatrixView<T>{a.data(), 1, s.m} : MatrixView<T>{a.data(), s.k, 1};
      const MatrixView<T> vb =
          transposes & 2 ? MatrixView<T>{b.data(), 1, s.k} : MatrixView<T>{b.data(), s.n, 1};
      Gemm<T>(s.m, s.n, s.k, va, vb, c.data(), s.n);
      for (int64_t i = 0; i < s.m; ++i) {
        for (int64_t j = 0; j < s.n; ++j) {
          T sum(0);
          for (int64_t p = 0; p < s.k; ++p) {
            sum = static_cast<T>(sum + va.data[i * va.row_step + p * va.column_step] *
                                           vb.data[p * vb.row_step + j * vb.column_step]);
          }
          ASSERT_EQ(c[i * s.n + j], sum) << s.m << "x" << s.n << "x" << s.k << " " << transposes;
        }
      }
    }
  }
}

// Multiplies into a result whose rows are `n` + 3 apart. The elements between them must not change.
void ExpectProduct(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b,
                   GemmInto into) {
  const int64_t step = n + 3;
  std::vector<float> c(m * step, 7);
  Gemm<float>(m, n, k, a, b, c.data(), step, into);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < step; ++j) {
      float sum = j >= n || into == GemmInto::kAdd ? 7 : 0;
      for (int64_t p = 0; p < k && j < n; ++p) {
        sum +=
            a.data[i * a.row_step + p * a.column_step] * b.data[p * b.row_step + j * b.column_step];
      }
      ASSERT_EQ(c[i * step + j], sum) << m << "x" << n << "x" << k << " at " << i << "," << j;
    }
  }
}

std::vector<float> Numbers(int64_t count, int64_t first) {
  std::vector<float> numbers(count);
  for (int64_t i = 0; i < count; ++i) numbers[i] = GemmTest<float>::Number(i + first);
  return numbers;
}

// Covers whole and partial vectors of each kind, packed in one part and in several.
TEST(Gemm, MultipliesByFewColumns) {
  for (int64_t n = 8; n <= 16; ++n) {
    for (int64_t m : {4, 19, 40, 65}) {
      for (int64_t k : {1, 31, 48, 100, 530, 1030}) {
        const std::vector<float> a = Numbers(m * k, 0), b = Numbers(k * n, 5);
        for (const auto view : {RowMajor(a.data(), k), Transposed(a.data(), m)}) {
          ExpectProduct(m, n, k, view, RowMajor(b.data(), n), GemmInto::kAdd);
        }
      }
    }
  }
}

// Covers panels of one vector, of two, and of a partial vector, both in place and packed.
TEST(Gemm, MultipliesSmallMatrices) {
  for (int64_t n : {16, 17, 31, 32, 48, 64, 75}) {
    for (int64_t m : {8, 13, 27, 64}) {
      for (int64_t k : {8, 31, 64}) {
        const std::vector<float> a = Numbers(m * k, 0), b = Numbers(k * n, 5);
        for (const auto va : {RowMajor(a.data(), k), Transposed(a.data(), m)}) {
          for (const auto vb : {RowMajor(b.data(), n), Transposed(b.data(), k)}) {
            ExpectProduct(m, n, k, va, vb, GemmInto::kReplace);
            ExpectProduct(m, n, k, va, vb, GemmInto::kAdd);
          }
        }
      }
    }
  }
}

// Covers whole and partial blocks, in several parts of the depth and of the lines.
TEST(Gemm, MultipliesLargeMatrices) {
  struct Size {
    int64_t m, n, k;
  };
  for (Size s : {Size{32, 512, 256}, Size{64, 96, 128}, Size{30, 250, 250}, Size{250, 31, 250},
                 Size{61, 190, 158}, Size{16, 128, 512}, Size{32, 32, 512}, Size{100, 70, 1100},
                 Size{128, 33, 130}, Size{200, 420, 1100}, Size{420, 90, 1025}}) {
    const std::vector<float> a = Numbers(s.m * s.k, 0), b = Numbers(s.k * s.n, 5);
    for (const auto va : {RowMajor(a.data(), s.k), Transposed(a.data(), s.m)}) {
      for (const auto vb : {RowMajor(b.data(), s.n), Transposed(b.data(), s.k)}) {
        ExpectProduct(s.m, s.n, s.k, va, vb, GemmInto::kReplace);
        ExpectProduct(s.m, s.n, s.k, va, vb, GemmInto::kAdd);
      }
    }
  }
}

struct alignas(64) Line {
  char bytes[64];
};

// Packs the matrix as a whole, and multiplies with two parts of it, which consist of whole panels.
void ExpectPackedProduct(int64_t m, int64_t n, int64_t k, MatrixView<float> b, GemmInto into) {
  const std::vector<float> a = Numbers(m * k, 0);
  std::vector<Line> packed((PackedBytes(n, k) + 63) / 64);
  const PackedMatrix matrix{packed[0].bytes, n, k};
  const int64_t panels = (n + kPackedColumns - 1) / kPackedColumns;
  PackPanels(n, k, b, panels / 2, panels, packed[0].bytes);
  PackPanels(n, k, b, 0, panels / 2, packed[0].bytes);
  const int64_t first = panels / 2 * kPackedColumns, step = n + 3;
  std::vector<float> c(m * step, 7), expected = c;
  const auto va = RowMajor(a.data(), k);
  Gemm<float>(m, n, k, va, b, expected.data(), step, into);
  PackedGemm(m, first, va, b, matrix, 0, c.data(), step, into);
  PackedGemm(m, n - first, va, b.FromColumn(first), matrix, first, c.data() + first, step, into);
  ASSERT_EQ(c, expected) << m << "x" << n << "x" << k;
}

TEST(Gemm, MultipliesByPackedMatrices) {
  if (PackedBytes(64, 64) == 0) {
    // Without a matrix unit, packing gains nothing.
    EXPECT_FALSE(GainsByPacking(1024, 1024, 1024));
    return;
  }
  EXPECT_TRUE(GainsByPacking(32, 512, 256));
  EXPECT_FALSE(GainsByPacking(1, 512, 256));
  for (int64_t n : {33, 64, 90, 250, 512}) {
    for (int64_t k : {1, 31, 64, 250, 530, 1100}) {
      const std::vector<float> b = Numbers(k * n, 5);
      for (const auto view : {RowMajor(b.data(), n), Transposed(b.data(), k)}) {
        for (int64_t m : {1, 30, 32, 75}) {
          ExpectPackedProduct(m, n, k, view, GemmInto::kReplace);
          ExpectPackedProduct(m, n, k, view, GemmInto::kAdd);
        }
      }
    }
  }
}

// Returns numbers between -1 and 1 that use all their digits.
std::vector<float> Fractions(int64_t count, uint32_t seed) {
  std::vector<float> numbers(count);
  for (float& x : numbers) {
    seed = seed * 1664525 + 1013904223;
    x = static_cast<float>(static_cast<int32_t>(seed)) * 0x1p-31f;
  }
  return numbers;
}

double ExactElement(int64_t k, MatrixView<float> a, MatrixView<float> b, int64_t i, int64_t j) {
  double sum = 0;
  for (int64_t p = 0; p < k; ++p) {
    sum += static_cast<double>(a.data[i * a.row_step + p * a.column_step]) *
           static_cast<double>(b.data[p * b.row_step + j * b.column_step]);
  }
  return sum;
}

// The error must not exceed the error of sums of rounded products.
TEST(Gemm, IsAsExactAsFloats) {
  for (int64_t k : {64, 256, 900}) {
    const int64_t m = 64, n = 200;
    const std::vector<float> a = Fractions(m * k, 1), b = Fractions(k * n, 2);
    const auto va = RowMajor(a.data(), k), vb = RowMajor(b.data(), n);
    std::vector<float> c(m * n);
    Gemm<float>(m, n, k, va, vb, c.data(), n);
    double of_gemm = 0, of_floats = 0;
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        const double exact = ExactElement(k, va, vb, i, j);
        float sum = 0;
        for (int64_t p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
        of_gemm += (c[i * n + j] - exact) * (c[i * n + j] - exact);
        of_floats += (sum - exact) * (sum - exact);
      }
    }
    EXPECT_LE(of_gemm, 1.1 * of_floats) << k;
  }
}

// Checks that the packed matrix gives the same `c`, which is 7 + the product.
void ExpectSamePacked(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b,
                      const std::vector<float>& c) {
  std::vector<Line> packed((PackedBytes(n, k) + 63) / 64);
  if (packed.empty()) return;
  PackPanels(n, k, b, 0, (n + kPackedColumns - 1) / kPackedColumns, packed[0].bytes);
  std::vector<float> found(m * n, 7);
  PackedGemm(m, n, a, b, {packed[0].bytes, n, k}, 0, found.data(), n, GemmInto::kAdd);
  for (size_t i = 0; i < c.size(); ++i) {
    if (std::isnan(c[i])) {
      ASSERT_TRUE(std::isnan(found[i])) << "at " << i;
    } else {
      ASSERT_FLOAT_EQ(found[i], c[i]) << "at " << i;
    }
  }
}

// NaNs, infinities, and numbers that would overflow in sums of parts, must give the same results as
// float products.
TEST(Gemm, KeepsInfinitiesAndLargeNumbers) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kMax = std::numeric_limits<float>::max();
  const int64_t m = 64, n = 128, k = 160;
  for (const float odd : {kInf, -kInf, kNan, kMax, 0x1p127f, 0x1p100f, 0x1p-120f, 0x1p-140f}) {
    for (const bool in_a : {true, false}) {
      for (const int64_t at : {int64_t{0}, int64_t{5 * 128 + 70}}) {
        std::vector<float> a(m * k, 0.5f), b(k * n, 0.25f), c(m * n, 7);
        (in_a ? a : b)[at] = odd;
        const auto va = RowMajor(a.data(), k), vb = RowMajor(b.data(), n);
        Gemm<float>(m, n, k, va, vb, c.data(), n, GemmInto::kAdd);
        ExpectSamePacked(m, n, k, va, vb, c);
        for (int64_t i = 0; i < m; ++i) {
          for (int64_t j = 0; j < n; ++j) {
            const auto wanted = static_cast<float>(7 + ExactElement(k, va, vb, i, j));
            if (std::isnan(wanted)) {
              ASSERT_TRUE(std::isnan(c[i * n + j])) << odd << " at " << i << "," << j;
            } else if (std::isinf(wanted)) {
              ASSERT_EQ(c[i * n + j], wanted) << odd << " at " << i << "," << j;
            } else {
              ASSERT_NEAR(c[i * n + j], wanted, std::abs(wanted) * 1e-6) << odd;
            }
          }
        }
      }
    }
  }
}

TEST(Gemm, ConjugatesComplexNumbers) {
  const std::complex<float> a(1, 2), b(3, 4);
  std::complex<float> c;
  Gemm<std::complex<float>>(1, 1, 1, {&a, 1, 1, true}, {&b, 1, 1}, &c, 1);
  EXPECT_EQ(c, std::conj(a) * b);
}

}  // namespace
}  // namespace sluice
