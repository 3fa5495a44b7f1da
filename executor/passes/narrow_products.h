// Computes only those columns of a matrix product that are read: a Slice of a MatMul becomes a
// _MatMulColumns.
//
// For example, a recurrent cell multiplies its input and its state by one matrix. If the gradient
// of the input is not needed, the gradient of the cell has such a slice. The slice must be the only
// reader of the product, and all sizes except the number of rows must be known, so that the slice
// cannot fail.
//
// Exactness: sums may be computed in another order.
// Order: after fold_constants, which makes the bounds of the slice constant, and after
//   unused_nodes, which removes the other slices.
// Cost: linear in the graph.
#ifndef SLUICE_EXECUTOR_PASSES_NARROW_PRODUCTS_H_
#define SLUICE_EXECUTOR_PASSES_NARROW_PRODUCTS_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"

namespace sluice {

// Returns the number of slices that became products.
absl::StatusOr<int> NarrowProducts(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_NARROW_PRODUCTS_H_
