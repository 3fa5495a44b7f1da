// The transforms and products of winograd.cc, over vectors of 16 channels. Everything here is
// inlined into functions that are compiled for AVX-512.
#ifndef SLUICE_OPS_CONV_WINOGRAD_TILES_H_
#define SLUICE_OPS_CONV_WINOGRAD_TILES_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "executor/cpu/prefetch.h"
#include "ops/matmul/product_rows.h"

namespace sluice::winograd {

inline constexpr int64_t kLanes = kVecLanes;

template <int kRows, int kColumns>
using Matrix = std::array<std::array<float, kColumns>, kRows>;

// The interpolation points of the algorithm: n - 1 finite ones and infinity. Of the sets that were
// compared, these gave the smallest rounding errors. Points p and -p are adjacent, because their
// transforms share most sums.
template <int n>
inline constexpr std::array<double, n - 1> kPoints = {};
template <>
inline constexpr std::array<double, 5> kPoints<6> = {0, 1, -1, 0.5, -2};
template <>
inline constexpr std::array<double, 7> kPoints<8> = {0, 1, -1, 0.5, -0.5, 2, -2};

// The matrices of the Toom-Cook algorithm for n points. Lavin and Gray (winograd.h) call them B^T
// (Data), G (Factor) and A^T (Result).
template <int n>
struct Points {
  static constexpr auto kAt = kPoints<n>;

  // The matrix that transforms data. Row i has the coefficients of the product of (x - p_j) over
  // all finite points p_j except p_i.
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

  // The matrix that transforms what the data is convolved with (a filter or a gradient), from
  // `size` numbers to n.
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

  // The matrix that transforms n products to `size` results.
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

template <int n, int size>
inline constexpr Matrix<n, size> kFactor = Points<n>::template Factor<size>();
template <int n, int size>
inline constexpr Matrix<size, n> kResult = Points<n>::template Result<size>();
template <int n>
inline constexpr Matrix<n, n> kData = Points<n>::Data();

// Computes r = kM * d for the constant matrix kM. The loops compile to explicit sums.
template <const auto& kM, int kRows, int kColumns>
SLUICE_INLINE_IN_CLONES void SumsOf(const Vec* d, Vec* r) {
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
    bool is_first = true;
#pragma GCC unroll 8
    for (int j = 0; j < kColumns; ++j) {
      if (kM[i][j] == 0) continue;
      if (is_first) {
        r[i] = kM[i][j] == 1 ? d[j] : kM[i][j] * d[j];
      } else if (kM[i][j] == 1) {
        r[i] += d[j];
      } else if (kM[i][j] == -1) {
        r[i] -= d[j];
      } else {
        r[i] += kM[i][j] * d[j];
      }
      is_first = false;
    }
  }
}

// A transform matrix that saves half of the work for points p and -p. The two rows of such points
// differ only in the signs of odd columns. So the sums over the even and over the odd columns are
// computed once; one row is their sum, the other their difference.
template <int kRows, int kColumns>
struct Mirrored {
  std::array<bool, kRows> is_pair{};  // [i]: rows i and i + 1 are such a pair
  // The matrix, but with zeros in the odd columns of a pair's first row, and in the even columns of
  // its second row.
  Matrix<kRows, kColumns> half{};

  static constexpr Mirrored Of(const Matrix<kRows, kColumns>& m) {
    Mirrored all{.half = m};
    for (int i = 0; i + 1 < kRows; ++i) {
      bool is_pair = i == 0 || !all.is_pair[i - 1];
      bool has_even = false, has_odd = false;
      for (int j = 0; j < kColumns; ++j) {
        is_pair = is_pair && m[i + 1][j] == (j % 2 == 0 ? m[i][j] : -m[i][j]);
        (j % 2 == 0 ? has_even : has_odd) |= m[i][j] != 0;
      }
      all.is_pair[i] = is_pair && has_even && has_odd;
      if (!all.is_pair[i]) continue;
      for (int j = 0; j < kColumns; ++j) {
        all.half[i][j] = j % 2 == 0 ? m[i][j] : 0;
        all.half[i + 1][j] = j % 2 == 0 ? 0 : m[i][j];
      }
    }
    return all;
  }
};

static_assert(Mirrored<8, 8>::Of(kData<8>).is_pair == Mirrored<8, 5>::Of(kFactor<8, 5>).is_pair);
static_assert(Mirrored<8, 8>::Of(kData<8>).is_pair[5]);

template <size_t kRows, size_t kColumns>
constexpr auto Transposed(const std::array<std::array<float, kColumns>, kRows>& m) {
  std::array<std::array<float, kRows>, kColumns> t{};
  for (size_t i = 0; i < kRows; ++i) {
    for (size_t j = 0; j < kColumns; ++j) t[j][i] = m[i][j];
  }
  return t;
}

// Computes r = kM * d for the constant matrix kM, with half of the work for points p and -p
// (Mirrored).
template <const auto& kM, int kRows, int kColumns>
struct Times {
  static constexpr int kIn = kColumns, kOut = kRows;

  SLUICE_INLINE_IN_CLONES static void Apply(const Vec* d, Vec* r) {
    static constexpr auto kOf = Mirrored<kRows, kColumns>::Of(kM);
    static constexpr auto kHalf = kOf.half;
    SumsOf<kHalf, kRows, kColumns>(d, r);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      if (!kOf.is_pair[i]) continue;
      const Vec even = r[i], odd = r[i + 1];
      r[i] = even + odd;
      r[i + 1] = even - odd;
    }
  }
};

// Like Times, if the pairs for points p and -p are columns of kM instead of rows.
template <const auto& kM, int kRows, int kColumns>
struct TimesColumns {
  static constexpr int kIn = kColumns, kOut = kRows;

  SLUICE_INLINE_IN_CLONES static void Apply(const Vec* d, Vec* r) {
    static constexpr auto kOf = Mirrored<kColumns, kRows>::Of(Transposed(kM));
    static constexpr auto kHalf = Transposed(kOf.half);
    Vec both[kColumns];
#pragma GCC unroll 8
    for (int i = 0; i < kColumns; ++i) both[i] = d[i];
#pragma GCC unroll 8
    for (int i = 0; i < kColumns; ++i) {
      if (!kOf.is_pair[i]) continue;
      both[i] = d[i] + d[i + 1];
      both[i + 1] = d[i] - d[i + 1];
    }
    SumsOf<kHalf, kRows, kColumns>(both, r);
  }
};

// Computes the same as Times<kData<6>, 6, 6>, but shares common subexpressions of the matrix's
// rows. This takes 14 operations instead of 24.
struct TimesData {
  static constexpr int kIn = 6, kOut = 6;

  template <typename V>
  SLUICE_INLINE_IN_CLONES static constexpr void Apply(const V* d, V* r) {
    const V t = d[3] - d[1];
    const V u = d[4] - d[2];
    const V p = u + 1.5f * d[3];
    const V q = t + 1.5f * d[2];
    r[0] = (d[0] - d[2]) + (u + 1.5f * t);
    r[1] = p + q;
    r[2] = p - q;
    r[3] = u + 2.0f * t;
    r[4] = u - 0.5f * t;
    r[5] = (d[5] - d[3]) + (1.5f * u - t);
  }

  static constexpr bool IsData() {
    for (int j = 0; j < 6; ++j) {
      std::array<float, 6> unit{}, column{};
      unit[j] = 1;
      Apply(unit.data(), column.data());
      for (int i = 0; i < 6; ++i) {
        if (column[i] != kData<6>[i][j]) return false;
      }
    }
    return true;
  }
};
static_assert(TimesData::IsData());
template <int n>
using DataTimes = std::conditional_t<n == 6, TimesData, Times<kData<n>, n, n>>;

// Computes to = M * from * M^T for the matrix of class M, such as Times. `from` has kIn x kIn
// vectors and `to` has kOut x kOut. The steps are the distances of neighboring rows and columns in
// floats. The outer loops are not unrolled, because the addresses would then fill the registers.
template <typename M>
SLUICE_INLINE_IN_CLONES void TransformSquare(const float* from, int64_t row_step,
                                             int64_t column_step, float* to, int64_t to_row_step,
                                             int64_t to_column_step) {
  Vec half[M::kOut * M::kIn];
#pragma GCC unroll 1
  for (int j = 0; j < M::kIn; ++j) {
    Vec in[M::kIn], out[M::kOut];
    const float* column = from + j * column_step;
#pragma GCC unroll 8
    for (int i = 0; i < M::kIn; ++i) in[i] = VecAt(column + i * row_step);
    M::Apply(in, out);
#pragma GCC unroll 8
    for (int i = 0; i < M::kOut; ++i) half[i * M::kIn + j] = out[i];
  }
#pragma GCC unroll 1
  for (int i = 0; i < M::kOut; ++i) {
    Vec in[M::kIn], out[M::kOut];
#pragma GCC unroll 8
    for (int j = 0; j < M::kIn; ++j) in[j] = half[i * M::kIn + j];
    M::Apply(in, out);
    float* row = to + i * to_row_step;
#pragma GCC unroll 8
    for (int j = 0; j < M::kOut; ++j) VecAt(row + j * to_column_step) = out[j];
  }
}

// The sizes of images.
struct Images {
  int64_t height, width, channels;
  int64_t row_step() const { return width * channels; }
  int64_t OffsetOf(int64_t y, int64_t x) const { return (y * width + x) * channels; }
};

// A square of `size` x `size` pixels whose first pixel is (y, x). Pixels outside the image are
// zeros.
template <int size>
class Square {
 public:
  SLUICE_INLINE_IN_CLONES Square(const Images& s, int64_t y, int64_t x)
      : images_(s),
        y_(y),
        x_(x),
        top_(std::max<int64_t>(0, -y)),
        bottom_(std::min<int64_t>(size, s.height - y)),
        left_(std::max<int64_t>(0, -x)),
        right_(std::min<int64_t>(size, s.width - x)) {
    is_whole_ = top_ == 0 && left_ == 0 && bottom_ == size && right_ == size;
    if (is_whole_) return;
    for (Vec& v : alone_) v = Vec{};
  }

  // Writes M * square * M^T to `to`, for the 16 channels at `image`. The vectors in `to` are
  // `to_step` floats apart. Prefetches the square below.
  template <typename M>
  SLUICE_INLINE_IN_CLONES void TransformFrom(const float* image, float* to, int64_t to_step) {
    for (int64_t i = 0; i < size; ++i) {
      for (int64_t j = 0; j < size; ++j) Prefetch(image, images_.OffsetOf(y_ + size + i, x_ + j));
    }
    const float* from = image + images_.OffsetOf(y_, x_);
    int64_t row_step = images_.row_step(), column_step = images_.channels;
    if (!is_whole_) {
      for (int64_t i = top_; i < bottom_; ++i) {
        for (int64_t j = left_; j < right_; ++j) {
          alone_[i * size + j] = VecAt(image + images_.OffsetOf(y_ + i, x_ + j));
        }
      }
      from = reinterpret_cast<const float*>(alone_);
      row_step = size * kLanes;
      column_step = kLanes;
    }
    TransformSquare<M>(from, row_step, column_step, to, M::kOut * to_step, to_step);
  }

  // Writes M * from * M^T to the square, for the 16 channels at `image`. The vectors in `from` are
  // `step` floats apart.
  template <typename M>
  SLUICE_INLINE_IN_CLONES void TransformInto(const float* from, int64_t step, float* image) {
    if (is_whole_) {
      TransformSquare<M>(from, M::kIn * step, step, image + images_.OffsetOf(y_, x_),
                         images_.row_step(), images_.channels);
      return;
    }
    TransformSquare<M>(from, M::kIn * step, step, reinterpret_cast<float*>(alone_), size * kLanes,
                       kLanes);
    for (int64_t i = top_; i < bottom_; ++i) {
      for (int64_t j = left_; j < right_; ++j) {
        VecAt(image + images_.OffsetOf(y_ + i, x_ + j)) = alone_[i * size + j];
      }
    }
  }

 private:
  const Images& images_;
  const int64_t y_, x_, top_, bottom_, left_, right_;
  bool is_whole_;
  Vec alone_[size * size];  // a copy of the square, if a part is outside the image
};

// A horizontal row of squares of `M::kIn` x `M::kIn` pixels. Each begins `m` pixels to the right of
// the one before. Columns of pixels that two squares share are transformed once.
template <typename M, int m>
class Strip {
 public:
  static constexpr int64_t kMostSquares = 8;

  // The first square begins at pixel (y, x). Pixels outside the image are zeros.
  SLUICE_INLINE_IN_CLONES Strip(const Images& s, int64_t y, int64_t x, int64_t squares)
      : images_(s),
        y_(y),
        x_(x),
        squares_(squares),
        top_(std::max<int64_t>(0, -y)),
        bottom_(std::min<int64_t>(M::kIn, s.height - y)) {}

  // Computes M * square * M^T for each square k and the 16 channels at `image`. The result has
  // kOut x kOut vectors, which begin at to + k * square_step and are `to_step` floats apart.
  SLUICE_INLINE_IN_CLONES void TransformFrom(const float* image, float* to, int64_t square_step,
                                             int64_t to_step) {
    const int64_t columns = squares_ * m + M::kIn - m;
    for (int64_t j = 0; j < columns; ++j) {
      Vec* const out = half_ + j * M::kOut;
      const int64_t x = x_ + j;
      if (x < 0 || x >= images_.width) {
        std::fill_n(out, M::kOut, Vec{});
      } else if (top_ == 0 && bottom_ == M::kIn) {
        TransformColumn<true>(image + images_.OffsetOf(y_, x), out);
      } else {
        TransformColumn<false>(image + images_.OffsetOf(y_, x), out);
      }
    }
    for (int64_t k = 0; k < squares_; ++k) {
      const Vec* const square = half_ + k * m * M::kOut;
#pragma GCC unroll 1
      for (int i = 0; i < M::kOut; ++i) {
        Vec in[M::kIn], out[M::kOut];
#pragma GCC unroll 8
        for (int j = 0; j < M::kIn; ++j) in[j] = square[j * M::kOut + i];
        M::Apply(in, out);
        float* row = to + k * square_step + i * M::kOut * to_step;
#pragma GCC unroll 8
        for (int j = 0; j < M::kOut; ++j) VecAt(row + j * to_step) = out[j];
      }
    }
  }

 private:
  // Transforms one column of pixels. Prefetches the pixels below that only the next strip has.
  template <bool kWhole>
  SLUICE_INLINE_IN_CLONES void TransformColumn(const float* column, Vec* out) const {
    const int64_t row_step = images_.row_step();
#pragma GCC unroll 4
    for (int i = 0; i < m; ++i) Prefetch(column, (M::kIn + i) * row_step);
    Vec in[M::kIn], transformed[M::kOut];
#pragma GCC unroll 8
    for (int i = 0; i < M::kIn; ++i) {
      in[i] = kWhole || (i >= top_ && i < bottom_) ? VecAt(column + i * row_step) : Vec{};
    }
    M::Apply(in, transformed);
#pragma GCC unroll 8
    for (int i = 0; i < M::kOut; ++i) out[i] = transformed[i];
  }

  const Images& images_;
  const int64_t y_, x_, squares_, top_, bottom_;
  Vec half_[(kMostSquares * m + M::kIn - m) * M::kOut];  // the transformed columns
};

// Computes to = a * b, or to += a * b if kAdd. `columns` is the number of columns of b, a multiple
// of 16. Element (row, d) of the left operand is a[row * row_step + d * depth_step]. Of 32
// registers, 24 or 16 hold sums.
template <bool kAdd>
SLUICE_INLINE_IN_CLONES void Product(const float* a, int64_t row_step, int64_t depth_step,
                                     const float* b, int64_t columns, int64_t rows, int64_t depth,
                                     float* to) {
  const SumTerms terms{.inner = depth, .a_inner = depth_step, .b_inner = columns};
  int64_t column = 0;
  for (; column + 2 * kLanes <= columns; column += 2 * kLanes) {
    ProductOfRows<2, kAdd, 12, 4, 1>(a, row_step, rows, b + column, terms, to + column, columns);
  }
  if (column < columns) {
    ProductOfRows<1, kAdd, 16, 4, 1>(a, row_step, rows, b + column, terms, to + column, columns);
  }
}

}  // namespace sluice::winograd

#endif  // SLUICE_OPS_CONV_WINOGRAD_TILES_H_
