// Loops of FusedBatchNorm over channels-last images, mainly sums per channel. A row has the
// channels of one pixel. Rows are summed in blocks whose size depends on the shape alone, and the
// blocks are added in order, in double. So the bits do not depend on the number of threads.
//
// A loop goes through the rows of a block with 8 channels at a time, so that their sums stay in
// registers.
#ifndef SLUICE_OPS_NN_BATCH_NORM_LOOPS_H_
#define SLUICE_OPS_NN_BATCH_NORM_LOOPS_H_

#include <algorithm>
#include <vector>

#include "executor/cpu/target_clones.h"
#include "executor/kernel/context.h"
#include "graph/status.h"

namespace sluice::batch_norm {

// The number of adjacent channels in a vector register.
inline constexpr int64_t kVecLanes = 8;
using Vec = float __attribute__((vector_size(32)));
using FloatsVec = float __attribute__((vector_size(32), aligned(4), may_alias));
SLUICE_INLINE_IN_CLONES const FloatsVec& VecAt(const float* p) {
  return *reinterpret_cast<const FloatsVec*>(p);
}
SLUICE_INLINE_IN_CLONES FloatsVec& VecAt(float* p) { return *reinterpret_cast<FloatsVec*>(p); }

// For each of n channels, adds the terms of all rows to sums[channel]. `term.Add(at, channel, sum)`
// adds the terms of 8 adjacent channels to `sum`. `channel` is the first of these channels, and
// `at` is the index of its element in a [rows, n] array. `term.One(at, channel)` returns the term
// of one channel.
template <typename Term>
SLUICE_INLINE_IN_CLONES void AddTerms(const Term& term, int64_t rows, int64_t n, float* sums) {
  int64_t c = 0;
  for (; c + kVecLanes <= n; c += kVecLanes) {
    Vec chains[4] = {};  // independent chains, so that additions overlap
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4) {
#pragma GCC unroll 4
      for (int64_t k = 0; k < 4; ++k) term.Add((r + k) * n + c, c, chains[k]);
    }
    for (; r < rows; ++r) term.Add(r * n + c, c, chains[0]);
    VecAt(sums + c) += (chains[0] + chains[1]) + (chains[2] + chains[3]);
  }
  if (c == n) return;
  for (int64_t r = 0; r < rows; ++r) {
#pragma GCC ivdep
    for (int64_t i = c; i < n; ++i) sums[i] += term.One(r * n + i, i);
  }
}

struct Value {
  const float* x;
  SLUICE_INLINE_IN_CLONES void Add(int64_t at, int64_t, Vec& sum) const { sum += VecAt(x + at); }
  SLUICE_INLINE_IN_CLONES float One(int64_t at, int64_t) const { return x[at]; }
};
struct SquaredDistance {
  const float* x;
  const float* mean;
  SLUICE_INLINE_IN_CLONES void Add(int64_t at, int64_t c, Vec& sum) const {
    const Vec distance = VecAt(x + at) - VecAt(mean + c);
    sum += distance * distance;
  }
  SLUICE_INLINE_IN_CLONES float One(int64_t at, int64_t c) const {
    return (x[at] - mean[c]) * (x[at] - mean[c]);
  }
};
struct Product {
  const float* y;
  const float* x;
  const float* mean;
  SLUICE_INLINE_IN_CLONES void Add(int64_t at, int64_t c, Vec& sum) const {
    sum += VecAt(y + at) * (VecAt(x + at) - VecAt(mean + c));
  }
  SLUICE_INLINE_IN_CLONES float One(int64_t at, int64_t c) const {
    return y[at] * (x[at] - mean[c]);
  }
};

// Does three things for each of n channels. Adds the rows of x to `sums`, which is 0 at first. Sets
// `means` to sums / rows. Adds the squared distances of the rows from `means` to `squares`.
inline SLUICE_TARGET_CLONES void AddMoments(const float* x, int64_t rows, int64_t n, float* sums,
                                            float* means, float* squares) {
  AddTerms(Value{x}, rows, n, sums);
  const float share = 1 / static_cast<float>(rows);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) means[i] = sums[i] * share;
  AddTerms(SquaredDistance{x, means}, rows, n, squares);
}

// For each of n channels: adds the rows of y to `sums`, and the rows of y * (x - mean) to
// `products`.
inline SLUICE_TARGET_CLONES void AddProducts(const float* y, const float* x, const float* mean,
                                             int64_t rows, int64_t n, float* sums,
                                             float* products) {
  AddTerms(Value{y}, rows, n, sums);
  AddTerms(Product{y, x, mean}, rows, n, products);
}

// For each row: y = (x - mean) * factor + offset. In this form, no digits are lost close to the
// mean.
inline SLUICE_TARGET_CLONES void Normalize(const float* x, const float* mean, const float* factor,
                                           const float* offset, int64_t rows, int64_t n, float* y) {
  int64_t c = 0;
  for (; c + kVecLanes <= n; c += kVecLanes) {
    const Vec m = VecAt(mean + c), f = VecAt(factor + c), o = VecAt(offset + c);
    for (int64_t at = c; at < rows * n; at += n) VecAt(y + at) = (VecAt(x + at) - m) * f + o;
  }
  if (c == n) return;
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
#pragma GCC ivdep
    for (int64_t i = c; i < n; ++i) y[i] = (x[i] - mean[i]) * factor[i] + offset[i];
  }
}

// For each row: dx = factor * (dy - dy_mean - (x - mean) * slope).
inline SLUICE_TARGET_CLONES void Backward(const float* dy, const float* x, const float* mean,
                                          const float* dy_mean, const float* slope,
                                          const float* factor, int64_t rows, int64_t n, float* dx) {
  int64_t c = 0;
  for (; c + kVecLanes <= n; c += kVecLanes) {
    const Vec m = VecAt(mean + c), d = VecAt(dy_mean + c), s = VecAt(slope + c);
    const Vec f = VecAt(factor + c);
    for (int64_t at = c; at < rows * n; at += n) {
      VecAt(dx + at) = f * (VecAt(dy + at) - d - (VecAt(x + at) - m) * s);
    }
  }
  if (c == n) return;
  for (int64_t r = 0; r < rows; ++r, x += n, dy += n, dx += n) {
#pragma GCC ivdep
    for (int64_t i = c; i < n; ++i) {
      dx[i] = factor[i] * (dy[i] - dy_mean[i] - (x[i] - mean[i]) * slope[i]);
    }
  }
}

// A partition of rows into blocks.
struct Blocks {
  int64_t rows, size, count;
  explicit Blocks(int64_t all) : rows(all) {
    size = std::max<int64_t>(64, (rows + 63) / 64);
    count = (rows + size - 1) / size;
  }
  int64_t first(int64_t block) const { return block * size; }
  int64_t rows_of(int64_t block) const { return std::min(size, rows - first(block)); }
};

// Returns a tensor [blocks, width] with `width` sums per block. For each block, calls
// `add(first row, number of rows, sums)`, which adds to sums that are 0 at first. `cost` is in
// nanoseconds per row.
template <typename Add>
absl::StatusOr<Tensor> SumBlocks(KernelContext& context, const Blocks& blocks, int64_t width,
                                 double cost, Add add) {
  SLUICE_ASSIGN_OR_RETURN(Tensor partial, context.AllocateTemp(DT_FLOAT, {blocks.count, width}));
  float* sums = partial.data<float>();
  std::fill_n(sums, blocks.count * width, 0.0f);
  context.ParallelFor(blocks.count, cost * static_cast<double>(blocks.size),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t b = begin; b < end; ++b) {
                          add(blocks.first(b), blocks.rows_of(b), sums + b * width);
                        }
                      });
  return partial;
}

// Calls f(first row, number of rows) for parts of the rows. A part has about 2048 elements, but at
// least 8 rows, so that it stays in the first-level cache. `cost` is in nanoseconds per element.
template <typename F>
void ForRows(KernelContext& context, int64_t rows, int64_t n, double cost, F f) {
  const int64_t step = std::max<int64_t>(8, 2048 / n);
  context.ParallelFor(rows, cost * static_cast<double>(n), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; r += step) f(r, std::min(step, end - r));
  });
}

}  // namespace sluice::batch_norm

#endif  // SLUICE_OPS_NN_BATCH_NORM_LOOPS_H_
