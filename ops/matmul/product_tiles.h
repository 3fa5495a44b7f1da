// Cuts products of matrices, or of batches of matrices, into tiles and computes these in parallel.
// MatMul and BatchMatMul share this.
#ifndef SLUICE_OPS_MATMUL_PRODUCT_TILES_H_
#define SLUICE_OPS_MATMUL_PRODUCT_TILES_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "executor/kernel/context.h"
#include "graph/status.h"
#include "graph/tensor/tensor.h"
#include "ops/loops/cast_loops.h"
#include "ops/matmul/gemm.h"

namespace sluice {

// The layout of the matrices of one operand. `rows` and `columns` are those of op(matrix) (gemm.h).
struct Layout {
  int64_t rows;
  int64_t columns;
  bool transposed;
  bool conjugate;
  int64_t step;  // distance of two rows of the matrix in memory
  int64_t elements() const { return rows * columns; }
};

inline Layout LayoutOf(const TensorShape& s, bool transposed, bool conjugate) {
  const int64_t rows = s.dim(s.rank() - 2), columns = s.dim(s.rank() - 1);
  return transposed ? Layout{columns, rows, true, conjugate, columns}
                    : Layout{rows, columns, false, false, columns};
}

template <typename T>
MatrixView<T> ViewOf(const T* data, const Layout& l) {
  return l.transposed ? MatrixView<T>{data, 1, l.step, l.conjugate}
                      : MatrixView<T>{data, l.step, 1, false};
}

// The products of the matrices of two batches. Product i multiplies the matrix at element
// a_starts[i] by that at element b_starts[i].
struct Products {
  Layout a, b;
  // One element per product. The matrices of the result are contiguous.
  absl::InlinedVector<int64_t, 64> a_starts, b_starts;
  // All of b in packed form. Only for a single float product.
  std::optional<PackedMatrix> packed = std::nullopt;
  int64_t count() const { return static_cast<int64_t>(a_starts.size()); }
};

// Number of cores of the machine. It decides how products are cut into tiles. The number of threads
// of a session does not, so results do not depend on the threads.
int64_t MachineCores();

// A tile with fewer rows takes as long as one with this number, because reading B limits the speed.
inline constexpr int64_t kRowsAtLeast = 8;

// The sizes of a tile of a product.
struct Cut {
  int64_t rows, columns;
};

// The cut of a product of floats. `b` is one of the matrices B, which has n columns. `depth` is the
// number of terms of each sum.
Cut CutOfFloats(const Layout& a, int64_t n, int64_t depth, MatrixView<float> b);
// The cut of a product of an m x k matrix and a packed k x n matrix.
Cut CutOfPacked(int64_t m, int64_t n, int64_t k);
// The length of a tile if `length` is cut into `tiles` parts that are multiples of `grain`.
inline int64_t TileOf(int64_t length, int64_t tiles, int64_t grain) {
  return std::max((length / tiles + grain - 1) / grain * grain, grain);
}

template <typename T>
Cut CutOf(const Products& p, int64_t depth, const T* b) {
  const int64_t m = p.a.rows, n = p.b.columns;
  if constexpr (std::is_same_v<T, float>) {
    return p.packed ? CutOfPacked(m, n, depth) : CutOfFloats(p.a, n, depth, ViewOf(b, p.b));
  } else {
    constexpr int64_t kGrain = 48;
    const double flops =
        2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(depth);
    const auto tiles = std::clamp<int64_t>(static_cast<int64_t>(flops / 1e6), 1, 16);
    return m >= n ? Cut{TileOf(m, tiles, kGrain), n} : Cut{m, TileOf(n, tiles, kGrain)};
  }
}

// The tiles of one product of a batch. Each tile is one call of Gemm. The cut depends only on the
// sizes and the machine, so the result does not depend on the threads of a session.
struct Grid {
  struct Tile {
    int64_t row, column, rows, columns;
  };
  int64_t m, n;
  Cut cut;
  double cost;  // of a tile, in nanoseconds

  int64_t across() const { return (n + cut.columns - 1) / cut.columns; }
  int64_t count() const { return m * n == 0 ? 0 : (m + cut.rows - 1) / cut.rows * across(); }
  Tile At(int64_t i) const {
    const int64_t row = i / across() * cut.rows, column = i % across() * cut.columns;
    return {row, column, std::min(cut.rows, m - row), std::min(cut.columns, n - column)};
  }
};

template <typename T>
inline constexpr double kFlopsPerNs = std::is_same_v<T, float> ? 80 : (sizeof(T) == 8 ? 20 : 10);

// The tiles of each product in p. If each result is the sum of several products of these sizes,
// `terms` is their number.
template <typename T>
Grid GridOf(const Products& p, const T* b, int64_t terms = 1) {
  const int64_t depth = p.a.columns * terms;
  Grid grid{p.a.rows, p.b.columns, CutOf<T>(p, depth, b), 0};
  const double flops = 2.0 * static_cast<double>(std::max(grid.m, kRowsAtLeast)) *
                       static_cast<double>(grid.n) * static_cast<double>(depth);
  grid.cost = flops / static_cast<double>(std::max<int64_t>(grid.count(), 1)) / kFlopsPerNs<T>;
  return grid;
}

template <typename T>
void MultiplyTile(const Products& p, const T* a, const T* b, int64_t product,
                  const Grid::Tile& tile, T* c, int64_t c_step, GemmInto into) {
  if (p.a.columns == 0) {
    if (into == GemmInto::kAdd) return;
    for (int64_t row = 0; row < tile.rows; ++row) std::fill_n(c + row * c_step, tile.columns, T(0));
    return;
  }
  const MatrixView<T> va = ViewOf(a + p.a_starts[product], p.a);
  const MatrixView<T> vb = ViewOf(b + p.b_starts[product], p.b);
  if constexpr (std::is_same_v<T, float>) {
    if (p.packed) {
      return PackedGemm(tile.rows, tile.columns, va.FromRow(tile.row), vb.FromColumn(tile.column),
                        *p.packed, tile.column, c, c_step, into);
    }
  }
  Gemm<T>(tile.rows, tile.columns, p.a.columns, va.FromRow(tile.row), vb.FromColumn(tile.column), c,
          c_step, into);
}

template <typename T>
void Multiply(KernelContext& context, const Products& p, const T* a, const T* b, T* c,
              GemmInto into = GemmInto::kReplace) {
  const Grid grid = GridOf<T>(p, b);
  const int64_t tiles = grid.count();
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t product = i / tiles;
      const Grid::Tile tile = grid.At(i % tiles);
      T* const to = c + product * grid.m * grid.n + tile.row * grid.n + tile.column;
      MultiplyTile(p, a, b, product, tile, to, grid.n, into);
    }
  };
  const int64_t total = p.count() * tiles;
  if (total <= 1) {
    run(0, total);
  } else {
    context.ParallelFor(total, grid.cost, run);
  }
}

// The number of parts into which the depth (inner dimension) of a product is cut. Parts are
// computed separately and then added. 1 if the depth is not cut.
//
// The depth of x * weights is the number of rows of the weights. Large weights are cut by these
// rows, like their gradients and updates. So each core keeps its part of the weights in its cache,
// and no two cores write the same page. With a cut by columns, a page would have columns of several
// cores, and prefetching would cross the boundaries between cores. Updates of the weights would
// then be much slower.
int64_t DepthParts(const Products& p);
// Computes a single product, whose depth is cut into `parts` parts.
absl::Status MultiplyByDepth(KernelContext& context, const Products& p, const float* a,
                             const float* b, int64_t parts, float* c);

// Converts `x` to type T. Returns `x` if it has this type.
template <typename T>
absl::StatusOr<Tensor> As(KernelContext& context, const Tensor& x) {
  if (x.dtype() == kDataTypeOf<T>) return x;
  SLUICE_ASSIGN_OR_RETURN(Tensor converted, context.AllocateTemp(kDataTypeOf<T>, x.shape()));
  FindCastLoop(x.dtype(), kDataTypeOf<T>, false)(x.raw(), converted.raw(), x.num_elements());
  return converted;
}

// Computes products in type T. The tensors may have narrower types (16-bit floating point for
// float, bytes for int32).
template <typename T>
absl::Status MultiplyTensors(KernelContext& context, const Products& p, const Tensor& a,
                             const Tensor& b, Tensor* c) {
  SLUICE_ASSIGN_OR_RETURN(const Tensor wide_a, As<T>(context, a));
  SLUICE_ASSIGN_OR_RETURN(const Tensor wide_b, As<T>(context, b));
  if (c->dtype() == kDataTypeOf<T>) {
    if constexpr (std::is_same_v<T, float>) {
      const int64_t parts = DepthParts(p);
      if (parts > 1) {
        return MultiplyByDepth(context, p, wide_a.data<T>(), wide_b.data<T>(), parts, c->data<T>());
      }
    }
    Multiply<T>(context, p, wide_a.data<T>(), wide_b.data<T>(), c->data<T>());
    return absl::OkStatus();
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor wide_c, context.AllocateTemp(kDataTypeOf<T>, c->shape()));
  Multiply<T>(context, p, wide_a.data<T>(), wide_b.data<T>(), wide_c.data<T>());
  FindCastLoop(kDataTypeOf<T>, c->dtype(), false)(wide_c.raw(), c->raw(), c->num_elements());
  return absl::OkStatus();
}

}  // namespace sluice

#endif  // SLUICE_OPS_MATMUL_PRODUCT_TILES_H_
