// Products of matrices of which only some columns are read are made of those columns alone: a Slice
// of a MatMul becomes a _MatMulColumns.
//
// That is the gradient of a recurrent cell, which multiplies its input and its state by one matrix,
// where nobody asks for the input's gradient. The sizes that tell that the slice lies inside have
// to be known, but not the number of rows. Sums may be made in another order. After constant
// folding, which makes constants of the slice's bounds, and unused_nodes, which takes away what
// else was sliced off and only waited for. Linear in the graph.
#ifndef SLUICE_EXECUTOR_PASSES_NARROW_PRODUCTS_H_
#define SLUICE_EXECUTOR_PASSES_NARROW_PRODUCTS_H_

#include "absl/status/statusor.h"
#include "executor/passes/passes.h"

namespace sluice {

// The number of slices that became products.
absl::StatusOr<int> NarrowProducts(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_NARROW_PRODUCTS_H_
