#include "ops/matmul/narrow_gemm.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>

#include "ops/matmul/thread_scratch.h"
#include "ops/matmul/vector_squares.h"

namespace sluice {
namespace {

constexpr int64_t kMostColumns = 16;
constexpr int64_t kDepthMax = 1024;   // depth of the packed part of B
constexpr int64_t kLongColumns = 48;  // from this depth on, vectors of terms of one sum are faster
constexpr int64_t kPanel = 2 * kVecLanes;

struct NarrowScratch {
  alignas(64) float b[kDepthMax * kMostColumns];
  alignas(64) float tile[kMostColumns * kPanel];
};

// Returns a mask of the first `count` lanes.
SLUICE_AVX512 __mmask16 Lanes(int64_t count) { return static_cast<__mmask16>((1u << count) - 1); }

SLUICE_AVX512 inline __attribute__((always_inline)) void Put(__m512 sums, __mmask16 lanes, bool add,
                                                             float* to) {
  if (add) sums = _mm512_add_ps(_mm512_maskz_loadu_ps(lanes, to), sums);
  _mm512_mask_storeu_ps(to, lanes, sums);
}

// --- If rows of B are contiguous, a vector holds a row of B.

SLUICE_AVX512 void ByColumnsOfB(int64_t m, int64_t n, int64_t depth, MatrixView<float> a,
                                MatrixView<float> b, bool add, float* c, int64_t c_step) {
  constexpr int64_t kRows = 12;
  auto& scratch = ThreadScratch<NarrowScratch>();
  const __mmask16 lanes = Lanes(n);
  for (int64_t d = 0; d < depth; ++d) {
    _mm512_store_ps(scratch.b + d * kVecLanes,
                    _mm512_maskz_loadu_ps(lanes, b.data + d * b.row_step));
  }
  const SumTerms terms{.inner = depth, .a_inner = a.column_step, .b_inner = kVecLanes};
  for (int64_t i = 0; i < m; i += kRows) {
    const int64_t count = std::min(kRows, m - i);
    ProductOfRows<1, false, kRows, 4, 1>(a.data + i * a.row_step, a.row_step, count, scratch.b,
                                         terms, scratch.tile, kVecLanes);
    for (int64_t r = 0; r < count; ++r) {
      Put(_mm512_load_ps(scratch.tile + r * kVecLanes), lanes, add, c + (i + r) * c_step);
    }
  }
}

// --- If columns of A are contiguous, a vector holds rows of A, and C^T = B^T * A^T is computed.

template <int kColumns>
SLUICE_AVX512 void RowsTimesColumns(const float* a, int64_t a_step, const float* b, int64_t b_step,
                                    int64_t depth, float* tile) {
  const SumTerms terms{.inner = depth, .a_inner = b_step, .b_inner = a_step};
  ProductRows<kColumns, 2, false>(b, 1, a, terms, tile, kPanel);
}

using RowsTimes = void (*)(const float* a, int64_t a_step, const float* b, int64_t b_step,
                           int64_t depth, float* tile);
RowsTimes FindRowsTimes(int64_t columns) {
  static constexpr RowsTimes kAll[] = {
      RowsTimesColumns<4>,  RowsTimesColumns<5>,  RowsTimesColumns<6>,
      RowsTimesColumns<7>,  RowsTimesColumns<8>,  RowsTimesColumns<9>,
      RowsTimesColumns<10>, RowsTimesColumns<11>, RowsTimesColumns<12>};
  return kAll[columns - 4];
}

// Writes `count` rows of C from a tile that has them as columns.
SLUICE_AVX512 void PutTransposed(const float* tile, int64_t count, int64_t n, bool add, float* c,
                                 int64_t c_step) {
  const __mmask16 lanes = Lanes(n);
  for (int64_t i = 0; i < count; i += kVecLanes, tile += kVecLanes, c += kVecLanes * c_step) {
    Vec rows[kVecLanes];
#pragma GCC unroll 16
    for (int j = 0; j < kVecLanes; ++j) rows[j] = VecAt(tile + j * kPanel);
    TransposeRows(rows);
    for (int64_t r = 0; r < std::min(kVecLanes, count - i); ++r) {
      Put(rows[r], lanes, add, c + r * c_step);
    }
  }
}

SLUICE_AVX512 void ByRowsOfA(int64_t m, int64_t n, int64_t depth, MatrixView<float> a,
                             MatrixView<float> b, bool add, float* c, int64_t c_step) {
  auto& scratch = ThreadScratch<NarrowScratch>();
  // At most 24 sums fit in registers, so computes more than 12 columns in two steps.
  const int64_t first = n <= 12 ? n : n / 2, second = n - first;
  const RowsTimes of_first = FindRowsTimes(first);
  const RowsTimes of_second = second > 0 ? FindRowsTimes(second) : nullptr;
  std::fill_n(scratch.tile + n * kPanel, (kMostColumns - n) * kPanel, 0.0f);
  for (int64_t i = 0; i < m; i += kPanel) {
    const int64_t count = std::min(kPanel, m - i);
    const float* from = a.data + i;
    int64_t step = a.column_step;
    if (count < kPanel) {  // whole vectors would exceed the end
      const __mmask16 low = Lanes(std::min(count, kVecLanes));
      const __mmask16 high = Lanes(std::max<int64_t>(count - kVecLanes, 0));
      for (int64_t d = 0; d < depth; ++d, from += step) {
        _mm512_store_ps(scratch.b + d * kPanel, _mm512_maskz_loadu_ps(low, from));
        _mm512_store_ps(scratch.b + d * kPanel + kVecLanes,
                        _mm512_maskz_loadu_ps(high, from + kVecLanes));
      }
      from = scratch.b;
      step = kPanel;
    }
    of_first(from, step, b.data, b.row_step, depth, scratch.tile);
    if (second > 0) {
      of_second(from, step, b.data + first, b.row_step, depth, scratch.tile + first * kPanel);
    }
    PutTransposed(scratch.tile, count, n, add, c + i * c_step, c_step);
  }
}

// --- If rows of A are contiguous, a vector holds terms of the sum of one element.

// Writes the columns of B one after the other, `length` floats apart, with zeros beyond the depth.
SLUICE_AVX512 void PackColumns(MatrixView<float> b, int64_t n, int64_t depth, int64_t length,
                               float* to) {
  const __mmask16 lanes = Lanes(n);
  for (int64_t d = 0; d < depth; d += kVecLanes) {
    Vec rows[kVecLanes];
#pragma GCC unroll 16
    for (int i = 0; i < kVecLanes; ++i) {
      rows[i] = d + i < depth ? _mm512_maskz_loadu_ps(lanes, b.data + (d + i) * b.row_step)
                              : _mm512_setzero_ps();
    }
    TransposeRows(rows);
    for (int64_t j = 0; j < n; ++j) VecAt(to + j * length + d) = rows[j];
  }
}

// Sums the lanes of each of four vectors. The sums are the first four lanes of the first vector.
SLUICE_INLINE_IN_CLONES void SumLanes(Vec* four) {
#pragma GCC unroll 2
  for (int i = 0; i < 4; i += 2) {
    ExchangeLanes<1>(four[i], four[i + 1], std::make_index_sequence<kVecLanes>());
    four[i] += four[i + 1];
  }
  ExchangeLanes<2>(four[0], four[2], std::make_index_sequence<kVecLanes>());
  four[0] += four[2];
  four[0] += __builtin_shufflevector(four[0], four[0], 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4,
                                     5, 6, 7);
  four[0] += __builtin_shufflevector(four[0], four[0], 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9,
                                     10, 11);
}

// Multiplies four rows of A with kColumns columns of B.
template <int kColumns>
SLUICE_AVX512 void FourRowsTimes(const float* a, int64_t a_step, int64_t depth, const float* b,
                                 int64_t length, bool add, float* c, int64_t c_step) {
  Vec sums[kColumns][4] = {};
  int64_t d = 0;
  for (; d + kVecLanes <= depth; d += kVecLanes) {
    Vec rows[4];
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) rows[r] = VecAt(a + r * a_step + d);
#pragma GCC unroll 8
    for (int j = 0; j < kColumns; ++j) {
      const Vec column = VecAt(b + j * length + d);
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) sums[j][r] += rows[r] * column;
    }
  }
  if (d < depth) {
    const __mmask16 lanes = Lanes(depth - d);
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) {
      const Vec row = _mm512_maskz_loadu_ps(lanes, a + r * a_step + d);
#pragma GCC unroll 8
      for (int j = 0; j < kColumns; ++j) sums[j][r] += row * VecAt(b + j * length + d);
    }
  }
#pragma GCC unroll 8
  for (int j = 0; j < kColumns; ++j) {
    SumLanes(sums[j]);
    for (int r = 0; r < 4; ++r) {
      float& to = c[r * c_step + j];
      to = add ? to + sums[j][0][r] : sums[j][0][r];
    }
  }
}

SLUICE_AVX512 void BySums(int64_t m, int64_t n, int64_t depth, MatrixView<float> a,
                          MatrixView<float> b, bool add, float* c, int64_t c_step) {
  auto& scratch = ThreadScratch<NarrowScratch>();
  const int64_t length = (depth + kVecLanes - 1) / kVecLanes * kVecLanes;
  PackColumns(b, n, depth, length, scratch.b);
  for (int64_t i = 0; i + 4 <= m; i += 4) {
    const float* rows = a.data + i * a.row_step;
    for (int64_t j = 0; j < n;) {
      const int64_t groups = (n - j + 4) / 5, count = (n - j + groups - 1) / groups;
      const float* columns = scratch.b + j * length;
      float* to = c + i * c_step + j;
      (count == 5   ? FourRowsTimes<5>
       : count == 4 ? FourRowsTimes<4>
       : count == 3 ? FourRowsTimes<3>
       : count == 2 ? FourRowsTimes<2>
                    : FourRowsTimes<1>)(rows, a.row_step, depth, columns, length, add, to, c_step);
      j += count;
    }
  }
  const int64_t done = m / 4 * 4;
  if (done < m) {
    ByColumnsOfB(m - done, n, depth, a.FromRow(done), b, add, c + done * c_step, c_step);
  }
}

}  // namespace

void NarrowGemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b, float* c,
                int64_t c_step, GemmInto into) {
  const bool is_transposed = a.row_step == 1 && a.column_step != 1;
  const auto product = is_transposed ? ByRowsOfA : k >= kLongColumns ? BySums : ByColumnsOfB;
  const int64_t most = is_transposed ? kDepthMax / 2 : kDepthMax;
  const int64_t parts = std::max<int64_t>((k + most - 1) / most, 1);
  const int64_t part = ((k + parts - 1) / parts + kVecLanes - 1) / kVecLanes * kVecLanes;
  for (int64_t d = 0; d < k; d += part) {
    product(m, n, std::min(part, k - d), a.FromColumn(d), b.FromRow(d),
            d > 0 || into == GemmInto::kAdd, c, c_step);
  }
}

}  // namespace sluice

#endif
