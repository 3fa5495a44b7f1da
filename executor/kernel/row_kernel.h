// Kernels whose result has, for each row of the first input along its last dimension, a row as long
// or one element, made of that row alone. The executor may run one at the end of elementwise nodes,
// on tiles of whole rows (executor/plan/fused_elementwise.h).
#ifndef SLUICE_EXECUTOR_KERNEL_ROW_KERNEL_H_
#define SLUICE_EXECUTOR_KERNEL_ROW_KERNEL_H_

#include <cstdint>

#include "graph/tensor/shape.h"

namespace sluice {

class RowKernel {
 public:
  virtual ~RowKernel() = default;
  // False where the kernel does more than MakeRows, or needs other memory for it.
  virtual bool CanMakeRows() const { return true; }
  // Whether input 1 says which dimensions become one element: where it is the last one alone, the
  // rows do. Otherwise a row of the result is as long.
  virtual bool IsReduction() const = 0;
  // Of `rows` rows of n > 0 elements, the bits that Compute gives. Rows as long may lie over x.
  virtual void MakeRows(const void* x, void* z, int64_t rows, int64_t n) const = 0;
  virtual TensorShape ShapeOfRows(const TensorShape& x) const = 0;
  virtual double CostOfRows() const = 0;  // nanoseconds an element, roughly
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_KERNEL_ROW_KERNEL_H_
