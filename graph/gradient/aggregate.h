// The sum of the gradients that reach one tensor.
#ifndef SLUICE_GRAPH_GRADIENT_AGGREGATE_H_
#define SLUICE_GRAPH_GRADIENT_AGGREGATE_H_

#include <vector>

#include "graph/gradient/gradients.h"

namespace sluice::gradient {

// Returns the sum of the gradients of one output of `op`. Tensors are added by AddN, first on each
// device and then across devices. Slices are concatenated. A mixture is converted to tensors.
// Without summands the result is none. The nodes of a tree of additions are named after `op`.
Grad Sum(const Node& op, const std::vector<Grad>& summands, AggregationMethod method);

}  // namespace sluice::gradient

#endif  // SLUICE_GRAPH_GRADIENT_AGGREGATE_H_
