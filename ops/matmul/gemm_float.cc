#include <algorithm>

#include "ops/matmul/amx_gemm.h"
#include "ops/matmul/gemm.h"
#include "ops/matmul/library_gemm.h"
#include "ops/matmul/narrow_gemm.h"
#include "ops/matmul/thread_scratch.h"
#include "ops/matmul/vector_squares.h"

namespace sluice {
namespace {

constexpr int64_t kPanel = 2 * kVecLanes;
constexpr int64_t kTileRows = 12;

#if defined(__x86_64__)

// AVX-512 loops for products that take oneDNN 10 to 50 % longer: products of small matrices, and of
// a transposed B if it is much larger than A and C or if A has few rows. 12 x 32 sums stay in
// registers, and a packed panel of 32 columns stays in the second-level cache.
constexpr int64_t kDepthMax = 1024;  // depth of a panel

struct PanelScratch {
  alignas(64) float panel[kDepthMax * kPanel];
  alignas(64) float tile[kTileRows * kPanel];
};

// Writes 16 rows of 16 floats as columns of a panel. The rows are `step` floats apart.
SLUICE_AVX512 void TransposeSquare(const float* from, int64_t step, float* to) {
  Vec rows[kVecLanes];
#pragma GCC unroll 16
  for (int i = 0; i < kVecLanes; ++i) rows[i] = VecAt(from + i * step);
  TransposeRows(rows);
#pragma GCC unroll 16
  for (int i = 0; i < kVecLanes; ++i) VecAt(to + i * kPanel) = rows[i];
}

// Writes `columns` columns of `depth` rows of b side by side, and then zeros. One of the two steps
// of b must be 1.
SLUICE_AVX512 void PackPanel(MatrixView<float> b, int64_t depth, int64_t columns, float* panel) {
  if (b.column_step == 1) {
    for (int64_t d = 0; d < depth; ++d, panel += kPanel) {
      const float* row = b.data + d * b.row_step;
      if (columns == kPanel) {
        VecAt(panel) = VecAt(row);
        VecAt(panel + kVecLanes) = VecAt(row + kVecLanes);
      } else {
        std::copy_n(row, columns, panel);
        std::fill_n(panel + columns, kPanel - columns, 0.0f);
      }
    }
    return;
  }
  for (int64_t j = 0; j < columns; j += kVecLanes) {
    int64_t d = 0;
    if (j + kVecLanes <= columns) {
      for (; d + kVecLanes <= depth; d += kVecLanes) {
        TransposeSquare(b.data + j * b.column_step + d, b.column_step, panel + d * kPanel + j);
      }
    }
    for (; d < depth; ++d) {
      for (int64_t i = j; i < j + kVecLanes; ++i) {
        panel[d * kPanel + i] = i < columns ? b.data[i * b.column_step + d] : 0.0f;
      }
    }
  }
}

// Computes rows of A * a panel, and stores them in `to` or adds them to it. The rows of the panel
// are `panel_step` floats apart.
template <int kVecs, bool kAdd>
SLUICE_AVX512 void TimesPanel(MatrixView<float> a, const float* panel, int64_t panel_step,
                              int64_t rows, int64_t depth, float* to, int64_t to_step) {
  const SumTerms terms{.inner = depth, .a_inner = a.column_step, .b_inner = panel_step};
  ProductOfRows<kVecs, kAdd, kTileRows, 8, 4, 1>(a.data, a.row_step, rows, panel, terms, to,
                                                 to_step);
}

// Divides B into panels. Calls panel(first column, columns, first row of b, rows, whether to add to
// earlier sums) for each.
template <typename F>
void ForPanels(int64_t n, int64_t k, GemmInto into, F panel) {
  const int64_t parts = (k + kDepthMax - 1) / kDepthMax, part = (k + parts - 1) / parts;
  for (int64_t d = 0; d < k; d += part) {
    for (int64_t j = 0; j < n; j += kPanel) {
      panel(j, std::min(kPanel, n - j), d, std::min(part, k - d), d > 0 || into == GemmInto::kAdd);
    }
  }
}

// Computes C^T = B^T * A^T. Transposes tiles as it writes them to C.
void TransposedGemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b,
                    float* c, int64_t c_step, GemmInto into) {
  auto& scratch = ThreadScratch<PanelScratch>();
  const MatrixView<float> transposed_a{a.data, a.column_step, a.row_step};
  const MatrixView<float> transposed_b{b.data, b.column_step, b.row_step};
  ForPanels(m, k, into, [&](int64_t i, int64_t columns, int64_t d, int64_t depth, bool add) {
    PackPanel(transposed_a.FromRow(d).FromColumn(i), depth, columns, scratch.panel);
    for (int64_t j = 0; j < n; j += kTileRows) {
      const int64_t count = std::min(kTileRows, n - j);
      const MatrixView<float> rows = transposed_b.FromRow(j).FromColumn(d);
      if (columns > kVecLanes) {
        TimesPanel<2, false>(rows, scratch.panel, kPanel, count, depth, scratch.tile, kPanel);
      } else {
        TimesPanel<1, false>(rows, scratch.panel, kPanel, count, depth, scratch.tile, kPanel);
      }
      for (int64_t x = 0; x < columns; ++x) {
        float* to = c + (i + x) * c_step + j;
        const float* from = scratch.tile + x;
        for (int64_t r = 0; r < count; ++r) {
          to[r] = add ? to[r] + from[r * kPanel] : from[r * kPanel];
        }
      }
    }
  });
}

// Multiplies panels of B. Reads them in place if they consist of whole vectors, and packs them
// otherwise. If columns are left over, computes them in a scratch tile and copies them.
void PanelGemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b, float* c,
               int64_t c_step, GemmInto into) {
  auto& scratch = ThreadScratch<PanelScratch>();
  ForPanels(n, k, into, [&](int64_t j, int64_t columns, int64_t d, int64_t depth, bool add) {
    const MatrixView<float> rows = a.FromColumn(d), part = b.FromRow(d).FromColumn(j);
    const bool is_whole = columns % kVecLanes == 0;
    const float* panel = part.data;
    int64_t step = part.row_step;
    if (b.column_step != 1 || !is_whole) {
      PackPanel(part, depth, columns, scratch.panel);
      panel = scratch.panel;
      step = kPanel;
    }
    if (is_whole) {
      const bool is_wide = columns == kPanel;
      const auto times = is_wide ? (add ? TimesPanel<2, true> : TimesPanel<2, false>)
                                 : (add ? TimesPanel<1, true> : TimesPanel<1, false>);
      return times(rows, panel, step, m, depth, c + j, c_step);
    }
    for (int64_t i = 0; i < m; i += kTileRows) {
      const int64_t count = std::min(kTileRows, m - i);
      TimesPanel<2, false>(rows.FromRow(i), panel, step, count, depth, scratch.tile, kPanel);
      for (int64_t r = 0; r < count; ++r) {
        float* to = c + (i + r) * c_step + j;
        const float* from = scratch.tile + r * kPanel;
        for (int64_t x = 0; x < columns; ++x) to[x] = add ? to[x] + from[x] : from[x];
      }
    }
  });
}

// For small matrices, which are frequent in batches, and for sums of few terms, a call of oneDNN
// costs as much as the product. Large matrices come from memory, which oneDNN reads faster than
// these loops read panels.
bool IsSmall(int64_t m, int64_t n, int64_t k, MatrixView<float> a) {
  constexpr int64_t kMostElements = 16 * 1024;
  if (!HasAvx512() || m < 8 || n < kVecLanes) return false;
  if (k < 8) return k >= 4 && a.column_step == 1 && m * n <= kMostElements;
  return m * k + k * n + m * n <= kMostElements;
}

// Returns whether B is transposed and A has so few rows that oneDNN would spend most of the time on
// transposing B.
bool IsFlat(int64_t m, int64_t n, int64_t k, MatrixView<float> b) {
  constexpr int64_t kLeastDepth = 128;
  return HasAvx512() && b.column_step != 1 && m >= kVecLanes && m <= kFlatRows && n >= kPanel &&
         k >= kLeastDepth;
}

#endif

}  // namespace

bool GemmTransposes(int64_t m, int64_t n, int64_t k, MatrixView<float> b) {
  // Writing an element of C^T takes as long as packing this number of elements of an operand.
  constexpr int64_t kToWrite = 5;
  if (!HasAvx512() || b.column_step == 1) return false;
  // Rows of A fill vectors. Without an eighth of the lanes, the products take longer than packing.
  const int64_t lanes = (m + kVecLanes - 1) / kVecLanes * kVecLanes;
  if (8 * m < 7 * lanes) return false;
  return m * k + kToWrite * m * n < k * n && m >= kVecLanes && n >= kTileRows && k >= 8;
}

bool GemmIsSplit(int64_t m, int64_t n, int64_t k) { return SuitsAmx(m, n, k); }

bool GainsByPacking(int64_t m, int64_t n, int64_t k) { return GainsByAmxPacking(m, n, k); }

int64_t PackedBytes(int64_t n, int64_t k) { return AmxPackedBytes(n, k); }

void PackPanels(int64_t n, int64_t k, MatrixView<float> b, int64_t begin, int64_t end, char* to) {
  AmxPack(n, k, b, begin, end, to);
}

void PackedGemm(int64_t m, int64_t n, MatrixView<float> a, MatrixView<float> b, PackedMatrix packed,
                int64_t first_column, float* c, int64_t c_step, GemmInto into) {
  AmxPackedGemm(m, n, a, b, packed, first_column, c, c_step, into);
}

template <>
void Gemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b, float* c,
          int64_t c_step, GemmInto into) {
#if defined(__x86_64__)
  if (SuitsAmx(m, n, k)) {
    return AmxGemm(m, n, k, {{&a.data, 1}, 0, a.row_step, a.column_step},
                   {{&b.data, 1}, 0, b.row_step, b.column_step}, c, c_step, into);
  }
  if (GemmTransposes(m, n, k, b)) return TransposedGemm(m, n, k, a, b, c, c_step, into);
  if (IsNarrow(m, n, b)) return NarrowGemm(m, n, k, a, b, c, c_step, into);
  if (IsSmall(m, n, k, a) || IsFlat(m, n, k, b)) return PanelGemm(m, n, k, a, b, c, c_step, into);
#endif
  LibraryGemm(m, n, k, a, b, c, c_step, into);
}

template <>
void SumOfGemms(int64_t m, int64_t n, int64_t k, MatrixViews<float> a, MatrixViews<float> b,
                float* c, int64_t c_step) {
  const auto count = static_cast<int64_t>(a.data.size());
  if (SuitsAmx(m, n, k * count)) return AmxGemm(m, n, k, a, b, c, c_step, GemmInto::kReplace);
  for (int64_t i = 0; i < count; ++i) {
    Gemm<float>(m, n, k, a[i], b[i], c, c_step, i > 0 ? GemmInto::kAdd : GemmInto::kReplace);
  }
}

}  // namespace sluice
