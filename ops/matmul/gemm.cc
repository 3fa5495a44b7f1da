#include "ops/matmul/gemm.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <type_traits>
#include <vector>

#include "executor/cpu/target_clones.h"

namespace sluice {
namespace {

// Sizes for Goto and van de Geijn's algorithm: a block of A that fits in the second-level cache is
// multiplied with panels of B, while the innermost tile of C stays in registers.
constexpr int64_t kBlockRows = 96;
constexpr int64_t kBlockDepth = 256;
constexpr int64_t kBlockColumns = 512;

// Integers are multiplied as unsigned numbers, so that they wrap around.
template <typename T, typename = void>
struct Lane {
  using type = T;
};
template <typename T>
struct Lane<T, std::enable_if_t<std::is_integral_v<T>>> {
  using type = std::make_unsigned_t<T>;
};
template <typename T>
using LaneOf = typename Lane<T>::type;

// The tile of C in registers has kTileRows rows of 64 bytes.
template <typename T>
inline constexpr int64_t kTileRows = std::is_arithmetic_v<T> ? 6 : 2;
template <typename T>
inline constexpr int64_t kTileColumns = 64 / sizeof(T);

// Computes tile = sum over p of (column p of a) * (row p of b). Both operands are packed.
template <typename T>
SLUICE_TARGET_CLONES void Tile(const LaneOf<T>* a, const LaneOf<T>* b, int64_t depth,
                               LaneOf<T>* tile) {
  typedef LaneOf<T> V __attribute__((vector_size(64)));
  V acc[kTileRows<T>] = {};
  for (int64_t p = 0; p < depth; ++p) {
    V row;
    std::memcpy(&row, b + p * kTileColumns<T>, sizeof(V));
#pragma GCC unroll 8
    for (int64_t i = 0; i < kTileRows<T>; ++i) acc[i] += a[p * kTileRows<T> + i] * row;
  }
  std::memcpy(tile, acc, sizeof(acc));
}

template <typename C>
SLUICE_TARGET_CLONES void ComplexTile(const C* a, const C* b, int64_t depth, C* tile) {
  using Part = typename C::value_type;
  constexpr int64_t kColumns = kTileColumns<C>, kRows = kTileRows<C>;
  Part re[kRows][kColumns] = {}, im[kRows][kColumns] = {};
  for (int64_t p = 0; p < depth; ++p) {
    for (int64_t i = 0; i < kRows; ++i) {
      const Part x = a[p * kRows + i].real(), y = a[p * kRows + i].imag();
      for (int64_t j = 0; j < kColumns; ++j) {
        const Part u = b[p * kColumns + j].real(), v = b[p * kColumns + j].imag();
        re[i][j] += x * u - y * v;
        im[i][j] += x * v + y * u;
      }
    }
  }
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t j = 0; j < kColumns; ++j) tile[i * kColumns + j] = C(re[i][j], im[i][j]);
  }
}

template <typename T>
T At(const MatrixView<T>& m, int64_t i, int64_t j) {
  const T& x = m.data[i * m.row_step + j * m.column_step];
  if constexpr (std::is_arithmetic_v<T>) {
    return x;
  } else {
    return m.conjugate ? std::conj(x) : x;
  }
}

// Packs `rows` x `depth` elements of a as tiles of kTileRows rows, each column by column. Pads
// short tiles with zeros.
template <typename T>
void PackRows(const MatrixView<T>& a, int64_t rows, int64_t depth, LaneOf<T>* packed) {
  for (int64_t i = 0; i < rows; i += kTileRows<T>) {
    for (int64_t p = 0; p < depth; ++p) {
      for (int64_t r = 0; r < kTileRows<T>; ++r) {
        *packed++ = i + r < rows ? static_cast<LaneOf<T>>(At(a, i + r, p)) : LaneOf<T>(0);
      }
    }
  }
}
template <typename T>
void PackColumns(const MatrixView<T>& b, int64_t depth, int64_t columns, LaneOf<T>* packed) {
  for (int64_t j = 0; j < columns; j += kTileColumns<T>) {
    for (int64_t p = 0; p < depth; ++p) {
      for (int64_t c = 0; c < kTileColumns<T>; ++c) {
        *packed++ = j + c < columns ? static_cast<LaneOf<T>>(At(b, p, j + c)) : LaneOf<T>(0);
      }
    }
  }
}

int64_t RoundUp(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// Adds the product of a packed block of A and a packed block of B to C.
template <typename T>
void MultiplyBlocks(const LaneOf<T>* a, const LaneOf<T>* b, int64_t rows, int64_t depth,
                    int64_t columns, T* c, int64_t c_step, bool add) {
  LaneOf<T> tile[kTileRows<T> * kTileColumns<T>];
  for (int64_t j = 0; j < columns; j += kTileColumns<T>) {
    for (int64_t i = 0; i < rows; i += kTileRows<T>) {
      if constexpr (std::is_arithmetic_v<T>) {
        Tile<T>(a + i * depth, b + j * depth, depth, tile);
      } else {
        ComplexTile(a + i * depth, b + j * depth, depth, tile);
      }
      const int64_t last_row = std::min(kTileRows<T>, rows - i);
      const int64_t last_column = std::min(kTileColumns<T>, columns - j);
      for (int64_t r = 0; r < last_row; ++r) {
        T* to = c + (i + r) * c_step + j;
        for (int64_t s = 0; s < last_column; ++s) {
          const LaneOf<T> sum = tile[r * kTileColumns<T> + s];
          to[s] = static_cast<T>(add ? static_cast<LaneOf<T>>(static_cast<LaneOf<T>>(to[s]) + sum)
                                     : sum);
        }
      }
    }
  }
}

}  // namespace

template <typename T>
void Gemm(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c, int64_t c_step,
          GemmInto into) {
  const int64_t depth_max = std::min(k, kBlockDepth);
  const int64_t rows_max = RoundUp(std::min(m, kBlockRows), kTileRows<T>);
  const int64_t columns_max = RoundUp(std::min(n, kBlockColumns), kTileColumns<T>);
  thread_local std::vector<LaneOf<T>> packed_a, packed_b;  // kept for the thread's next product
  packed_a.resize(std::max(packed_a.size(), static_cast<size_t>(rows_max * depth_max)));
  packed_b.resize(std::max(packed_b.size(), static_cast<size_t>(columns_max * depth_max)));
  for (int64_t j = 0; j < n; j += kBlockColumns) {
    const int64_t columns = std::min(kBlockColumns, n - j);
    for (int64_t p = 0; p < k; p += kBlockDepth) {
      const int64_t depth = std::min(kBlockDepth, k - p);
      PackColumns(b.FromRow(p).FromColumn(j), depth, columns, packed_b.data());
      for (int64_t i = 0; i < m; i += kBlockRows) {
        const int64_t rows = std::min(kBlockRows, m - i);
        PackRows(a.FromRow(i).FromColumn(p), rows, depth, packed_a.data());
        MultiplyBlocks<T>(packed_a.data(), packed_b.data(), rows, depth, columns,
                          c + i * c_step + j, c_step, p > 0 || into == GemmInto::kAdd);
      }
    }
  }
}

template <typename T>
void SumOfGemms(int64_t m, int64_t n, int64_t k, MatrixViews<T> a, MatrixViews<T> b, T* c,
                int64_t c_step) {
  for (size_t i = 0; i < a.data.size(); ++i) {
    Gemm<T>(m, n, k, a[i], b[i], c, c_step, i > 0 ? GemmInto::kAdd : GemmInto::kReplace);
  }
}

#define SLUICE_GEMM(T)                                                                     \
  template void Gemm(int64_t, int64_t, int64_t, MatrixView<T>, MatrixView<T>, T*, int64_t, \
                     GemmInto);                                                            \
  template void SumOfGemms(int64_t, int64_t, int64_t, MatrixViews<T>, MatrixViews<T>, T*, int64_t)
SLUICE_GEMM(double);
SLUICE_GEMM(int16_t);
SLUICE_GEMM(int32_t);
SLUICE_GEMM(int64_t);
SLUICE_GEMM(std::complex<float>);
SLUICE_GEMM(std::complex<double>);
#undef SLUICE_GEMM

}  // namespace sluice
