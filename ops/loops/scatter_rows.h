// Updates rows or slices of a tensor in place.
//
// Thread safety: the caller holds the variable's claim, a lock (executor/wait/claim.h), and has
// made the tensor writable.
// Errors: INVALID_ARGUMENT with TensorFlow's texts, also for a division by an integer 0.
// UNIMPLEMENTED if the type has no such operation. Indices are checked before anything is written.
#ifndef SLUICE_OPS_LOOPS_SCATTER_ROWS_H_
#define SLUICE_OPS_LOOPS_SCATTER_ROWS_H_

#include "absl/status/status.h"
#include "executor/kernel/context.h"
#include "ops/loops/arithmetic.h"

namespace sluice {

// Checks the shapes of the arguments of ScatterRows.
absl::Status CheckScatter(const TensorShape& params, const Tensor& indices, const Tensor& updates);
// params[indices[i], :] (op)= updates[i, :], in order of i. If `updates` is a scalar, it is the
// operand for all elements of the rows.
// INVALID_ARGUMENT "indices[1,2] = 7 is not in [0, 5)" if an index is out of range.
absl::Status ScatterRows(KernelContext& c, ArithmeticOp op, Tensor* params, const Tensor& indices,
                         const Tensor& updates);

enum class BadIndices { kError, kIgnore };
// Checks the shapes of the arguments of ScatterSlices.
absl::Status CheckScatterNd(const TensorShape& params, const Tensor& indices,
                            const Tensor& updates);
// params[indices[i, 0], indices[i, 1], …] (op)= updates[i, :], in order of i.
// If an index is out of range, kIgnore skips the update, and kError returns INVALID_ARGUMENT
// "indices[1] = [0, 2] does not index into shape [1,2]".
absl::Status ScatterSlices(KernelContext& c, ArithmeticOp op, BadIndices bad, Tensor* params,
                           const Tensor& indices, const Tensor& updates);

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_SCATTER_ROWS_H_
