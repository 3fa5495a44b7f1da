// The interface of kernels that map each row of the first input (along its last dimension) to a row
// of the same length or to one element. The executor may run one as the last node of a fusion
// group, on tiles of whole rows (executor/fusion/fused_elementwise.h).
#ifndef SLUICE_EXECUTOR_KERNEL_ROW_KERNEL_H_
#define SLUICE_EXECUTOR_KERNEL_ROW_KERNEL_H_

#include <cstdint>

#include "graph/tensor/shape.h"

namespace sluice {

class RowKernel {
 public:
  virtual ~RowKernel() = default;
  // False if calls of MakeRows alone cannot replace Compute, for example because MakeRows needs
  // memory that Compute allocates.
  virtual bool CanMakeRows() const { return true; }
  // Whether each row becomes one element. Input 1 then lists the dimensions to reduce, and the
  // executor calls MakeRows only if the last dimension is the only one in this list.
  virtual bool IsReduction() const = 0;
  // Computes `rows` rows of n > 0 elements with the same bits as Compute. If rows keep their
  // length, z may be x.
  virtual void MakeRows(const void* x, void* z, int64_t rows, int64_t n) const = 0;
  // The shape of the result for a first input of shape x.
  virtual TensorShape ShapeOfRows(const TensorShape& x) const = 0;
  virtual double CostOfRows() const = 0;  // nanoseconds per element, roughly
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_KERNEL_ROW_KERNEL_H_
