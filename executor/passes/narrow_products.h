// Computes only the columns of a matrix product that are read: a Slice of a MatMul becomes a
// _MatMulColumns.
//
// This occurs in the gradient of a recurrent cell, which multiplies its input and its state by one
// matrix, if the gradient with respect to the input is not needed. The sizes that show that the
// slice is inside the product must be known, but not the number of rows. Sums may be in another
// order.
//
// Runs after constant folding, which makes the slice's bounds constant, and after unused_nodes,
// which removes other slices of the product that no node reads. Linear in the graph.
#ifndef SLUICE_EXECUTOR_PASSES_NARROW_PRODUCTS_H_
#define SLUICE_EXECUTOR_PASSES_NARROW_PRODUCTS_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"

namespace sluice {

// Returns the number of slices that became products.
absl::StatusOr<int> NarrowProducts(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_NARROW_PRODUCTS_H_
