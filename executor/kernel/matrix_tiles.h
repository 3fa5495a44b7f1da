// Interfaces of kernels that compute a matrix tile by tile for the only kernel that reads it. The
// reader uses each tile while it is in the cache (executor/fusion/tile_updates.h).
#ifndef SLUICE_EXECUTOR_KERNEL_MATRIX_TILES_H_
#define SLUICE_EXECUTOR_KERNEL_MATRIX_TILES_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "executor/kernel/context.h"

namespace sluice {

// Elements [row, row + rows) x [column, column + columns) of a matrix. `data` is contiguous.
struct MatrixTile {
  const void* data;
  int64_t row, column, rows, columns;
};

// A kernel whose only output is a matrix computed from inputs 0 and 1.
class TileMaker {
 public:
  virtual ~TileMaker() = default;
  virtual bool CanMakeTiles() const = 0;
  // The shape of the matrix, or the error of Compute.
  virtual absl::StatusOr<TensorShape> ShapeOf(const Tensor& a, const Tensor& b) const = 0;
  // Computes the matrix. Calls `take` once for each tile, on several threads at the same time.
  // `cost` is the approximate time of a call of `take` in nanoseconds per element. The tiles have
  // the same bits as the result of Compute. RESOURCE_EXHAUSTED, before the first call of `take`, if
  // there is no memory.
  using Take = absl::FunctionRef<void(const MatrixTile&)>;
  virtual absl::Status MakeTiles(KernelContext& context, const Tensor& a, const Tensor& b,
                                 double cost, Take take) const = 0;
};

// A kernel that can read one of its inputs, a matrix, tile by tile in any order.
class TileTaker {
 public:
  virtual ~TileTaker() = default;
  // The index of the input that can be read in tiles. -1 if this kernel needs the whole matrix.
  virtual int tiled_input() const = 0;
  // Does what Compute would do if its tiled input were the matrix that `maker` computes from `a`
  // and `b`.
  virtual absl::Status ComputeFromTiles(KernelContext& context, const TileMaker& maker,
                                        const Tensor& a, const Tensor& b) = 0;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_KERNEL_MATRIX_TILES_H_
