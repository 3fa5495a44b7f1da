// Matrices that are made tile by tile for the one kernel that reads them, which takes each tile
// while it is in the cache (executor/plan/tiled_updates.h).
#ifndef SLUICE_EXECUTOR_KERNEL_MATRIX_TILES_H_
#define SLUICE_EXECUTOR_KERNEL_MATRIX_TILES_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "executor/kernel/context.h"

namespace sluice {

// Elements [row, row + rows) x [column, column + columns) of a matrix; rows follow one another.
struct MatrixTile {
  const void* data;
  int64_t row, column, rows, columns;
};

// A kernel whose one output is a matrix made of inputs 0 and 1.
class TileMaker {
 public:
  virtual ~TileMaker() = default;
  virtual bool CanMakeTiles() const = 0;
  // The shape of the whole, or the error that Compute would give.
  virtual absl::StatusOr<TensorShape> ShapeOf(const Tensor& a, const Tensor& b) const = 0;
  // Calls `take`, which needs `cost` nanoseconds an element, with every tile once, from several
  // threads at a time. The tiles have the bits that Compute would give. RESOURCE_EXHAUSTED before
  // the first call.
  using Take = absl::FunctionRef<void(const MatrixTile&)>;
  virtual absl::Status MakeTiles(KernelContext& context, const Tensor& a, const Tensor& b,
                                 double cost, Take take) const = 0;
};

// A kernel that reads one of its inputs, a matrix, in any order.
class TileTaker {
 public:
  virtual ~TileTaker() = default;
  virtual int tiled_input() const = 0;  // -1: none
  // What Compute would do if that input were what `maker` makes of `a` and `b`.
  virtual absl::Status ComputeFromTiles(KernelContext& context, const TileMaker& maker,
                                        const Tensor& a, const Tensor& b) = 0;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_KERNEL_MATRIX_TILES_H_
