// Sums a channel over channels-last images, the same bits on any number of threads: rows are summed
// in blocks whose size depends on the shape alone, and the blocks in order, in double.
#ifndef SLUICE_OPS_NN_BATCH_NORM_LOOPS_H_
#define SLUICE_OPS_NN_BATCH_NORM_LOOPS_H_

#include <algorithm>
#include <vector>

#include "executor/kernel/context.h"
#include "executor/kernel/target_clones.h"
#include "graph/status.h"

namespace sluice::batch_norm {

// sums += rows of x.
inline SLUICE_TARGET_CLONES void AddRows(const float* x, int64_t rows, int64_t n, float* sums) {
  for (int64_t r = 0; r < rows; ++r, x += n) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) sums[i] += x[i];
  }
}

// sums += rows of (x - mean)^2.
inline SLUICE_TARGET_CLONES void AddSquares(const float* x, const float* mean, int64_t rows,
                                            int64_t n, float* sums) {
  for (int64_t r = 0; r < rows; ++r, x += n) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) sums[i] += (x[i] - mean[i]) * (x[i] - mean[i]);
  }
}

// sums += rows of y * (x - mean).
inline SLUICE_TARGET_CLONES void AddProducts(const float* y, const float* x, const float* mean,
                                             int64_t rows, int64_t n, float* sums) {
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) sums[i] += y[i] * (x[i] - mean[i]);
  }
}

// y = x * factor + shift.
inline SLUICE_TARGET_CLONES void Affine(const float* x, const float* factor, const float* shift,
                                        int64_t rows, int64_t n, float* y) {
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] * factor[i] + shift[i];
  }
}

// y = (x - mean) * factor + offset: close to the mean, no digits are lost.
inline SLUICE_TARGET_CLONES void Normalize(const float* x, const float* mean, const float* factor,
                                           const float* offset, int64_t rows, int64_t n, float* y) {
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean[i]) * factor[i] + offset[i];
  }
}

// dx = factor * (dy - dy_mean - (x - mean) * slope).
inline SLUICE_TARGET_CLONES void Backward(const float* dy, const float* x, const float* mean,
                                          const float* dy_mean, const float* slope,
                                          const float* factor, int64_t rows, int64_t n, float* dx) {
  for (int64_t r = 0; r < rows; ++r, x += n, dy += n, dx += n) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      dx[i] = factor[i] * (dy[i] - dy_mean[i] - (x[i] - mean[i]) * slope[i]);
    }
  }
}

// totals[i] = the sum over all rows, by `add(first row, rows, sums)` over blocks of them.
template <typename Add>
absl::Status SumRows(KernelContext& context, int64_t rows, int64_t n, Add add, double* totals) {
  const int64_t rows_per_block = std::max<int64_t>(64, (rows + 63) / 64);
  const int64_t blocks = (rows + rows_per_block - 1) / rows_per_block;
  SLUICE_ASSIGN_OR_RETURN(Tensor partial, context.AllocateTemp(DT_FLOAT, {blocks, n}));
  float* sums = partial.data<float>();
  std::fill_n(sums, blocks * n, 0.0f);
  context.ParallelFor(blocks, 0.3 * static_cast<double>(rows_per_block * n),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t b = begin; b < end; ++b) {
                          const int64_t first = b * rows_per_block;
                          add(first, std::min(rows_per_block, rows - first), sums + b * n);
                        }
                      });
  std::fill_n(totals, n, 0.0);
  for (int64_t b = 0; b < blocks; ++b) {
    for (int64_t i = 0; i < n; ++i) totals[i] += static_cast<double>(sums[b * n + i]);
  }
  return absl::OkStatus();
}

}  // namespace sluice::batch_norm

#endif  // SLUICE_OPS_NN_BATCH_NORM_LOOPS_H_
