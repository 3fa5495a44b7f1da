// The loops of winograd.cc over vectors of 16 channels: everything here is inlined into functions
// that are compiled for AVX-512.
#ifndef SLUICE_OPS_NN_WINOGRAD_TILES_H_
#define SLUICE_OPS_NN_WINOGRAD_TILES_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "ops/math/product_rows.h"

namespace sluice::winograd {

inline constexpr int64_t kLanes = kVecLanes;

template <int kRows, int kColumns>
using Matrix = std::array<std::array<float, kColumns>, kRows>;

// The matrices of Cook and Toom for n points, of which the last is infinity.
template <int n>
struct Points {
  // 1/2 and -2 lose fewer digits than 2 and -2, or any others of that size.
  static constexpr std::array<double, 5> kAt = {0, 1, -1, 0.5, -2};

  // Row i: the coefficients of the product of (x - p_j) over j other than i.
  static constexpr Matrix<n, n> Data() {
    Matrix<n, n> m{};
    for (int i = 0; i < n; ++i) {
      std::array<double, n + 1> poly{};
      poly[0] = 1;
      for (int j = 0; j < n - 1; ++j) {
        if (j == i) continue;
        for (int k = n; k >= 0; --k) poly[k] = (k > 0 ? poly[k - 1] : 0) - kAt[j] * poly[k];
      }
      for (int k = 0; k < n; ++k) m[i][k] = static_cast<float>(poly[k]);
    }
    return m;
  }

  // Of what is multiplied with data: `size` numbers to n.
  template <int size>
  static constexpr Matrix<n, size> Factor() {
    Matrix<n, size> m{};
    for (int i = 0; i < n - 1; ++i) {
      double power = 1;
      for (int j = 0; j < n - 1; ++j) {
        if (j != i) power /= kAt[i] - kAt[j];
      }
      for (int k = 0; k < size; ++k, power *= kAt[i]) m[i][k] = static_cast<float>(power);
    }
    m[n - 1][size - 1] = 1;
    return m;
  }

  // Back from n products to `size` results.
  template <int size>
  static constexpr Matrix<size, n> Result() {
    Matrix<size, n> m{};
    for (int i = 0; i < n - 1; ++i) {
      double power = 1;
      for (int k = 0; k < size; ++k, power *= kAt[i]) m[k][i] = static_cast<float>(power);
    }
    m[size - 1][n - 1] = 1;
    return m;
  }
};

template <int n>
inline constexpr Matrix<n, n> kData = Points<n>::Data();
template <int n, int size>
inline constexpr Matrix<n, size> kFactor = Points<n>::template Factor<size>();
template <int n, int size>
inline constexpr Matrix<size, n> kResult = Points<n>::template Result<size>();

// to = M from: one column of each.
template <const auto& kM, int kRows, int kColumns>
SLUICE_INLINE_IN_CLONES void Column(const Vec* from, int from_step, Vec* to, int to_step) {
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
    Vec sum{};
#pragma GCC unroll 8
    for (int j = 0; j < kColumns; ++j) {
      if (kM[i][j] == 1) {
        sum += from[j * from_step];
      } else if (kM[i][j] == -1) {
        sum -= from[j * from_step];
      } else if (kM[i][j] != 0) {
        sum += kM[i][j] * from[j * from_step];
      }
    }
    to[i * to_step] = sum;
  }
}

// to (kRows x kRows) = M from (kColumns x kColumns) M^T.
template <const auto& kM, int kRows, int kColumns>
SLUICE_INLINE_IN_CLONES void Transform(const Vec* from, Vec* to) {
  Vec half[kRows * kColumns];
#pragma GCC unroll 8
  for (int c = 0; c < kColumns; ++c) {
    Column<kM, kRows, kColumns>(from + c, kColumns, half + c, kColumns);
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    Column<kM, kRows, kColumns>(half + r * kColumns, 1, to + r * kRows, 1);
  }
}

// Images of `channels` channels, without their edges.
struct Images {
  int64_t height, width, channels;
};

// A square of `size` x `size` places from (y, x) of an image, zeros outside of it.
template <int size>
SLUICE_INLINE_IN_CLONES void LoadSquare(const Images& s, const float* image, int64_t y, int64_t x,
                                        Vec* to) {
  if (y >= 0 && x >= 0 && y + size <= s.height && x + size <= s.width) {
    const float* from = image + (y * s.width + x) * s.channels;
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j < size; ++j)
        to[i * size + j] = VecAt(from + (i * s.width + j) * s.channels);
    }
    return;
  }
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) {
      const bool inside = y + i >= 0 && y + i < s.height && x + j >= 0 && x + j < s.width;
      if (inside) {
        to[i * size + j] = VecAt(image + ((y + i) * s.width + x + j) * s.channels);
      } else {
        to[i * size + j] = Vec{};
      }
    }
  }
}

template <int size>
SLUICE_INLINE_IN_CLONES void StoreSquare(const Images& s, const Vec* from, float* image, int64_t y,
                                         int64_t x) {
  const int64_t rows = std::min<int64_t>(size, s.height - y);
  const int64_t columns = std::min<int64_t>(size, s.width - x);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      VecAt(image + ((y + i) * s.width + x + j) * s.channels) = from[i * size + j];
    }
  }
}

// A product (ops/math/product_rows.h) of any number of rows and `columns`, a multiple of 16.
template <int kRows, int kVecs, bool kAdd>
SLUICE_INLINE_IN_CLONES void Product(const float* a, int64_t row_step, int64_t depth_step,
                                     const float* b, int64_t columns, int64_t rows, int64_t depth,
                                     float* to) {
  int64_t column = 0;
  for (; column + kVecs * kLanes <= columns; column += kVecs * kLanes) {
    int64_t r = 0;
    for (; r + kRows <= rows; r += kRows) {
      ProductRows<kRows, kVecs, kAdd>(a + r * row_step, row_step, depth_step, b + column, columns,
                                      depth, to + r * columns + column, columns);
    }
    for (; r + 4 <= rows; r += 4) {
      ProductRows<4, kVecs, kAdd>(a + r * row_step, row_step, depth_step, b + column, columns,
                                  depth, to + r * columns + column, columns);
    }
    for (; r < rows; ++r) {
      ProductRows<1, kVecs, kAdd>(a + r * row_step, row_step, depth_step, b + column, columns,
                                  depth, to + r * columns + column, columns);
    }
  }
  if constexpr (kVecs > 1) {
    if (column < columns) {
      for (int64_t r = 0; r < rows;) {
        const int64_t left = rows - r;
        const float* from = a + r * row_step;
        float* into = to + r * columns + column;
        if (left >= kRows) {
          ProductRows<kRows, 1, kAdd>(from, row_step, depth_step, b + column, columns, depth, into,
                                      columns);
          r += kRows;
        } else {
          ProductRows<1, 1, kAdd>(from, row_step, depth_step, b + column, columns, depth, into,
                                  columns);
          ++r;
        }
      }
    }
  }
}

}  // namespace sluice::winograd

#endif  // SLUICE_OPS_NN_WINOGRAD_TILES_H_
