// The sum of the gradients that reach one tensor.
#ifndef SLUICE_GRAPH_GRADIENT_AGGREGATE_H_
#define SLUICE_GRAPH_GRADIENT_AGGREGATE_H_

#include <vector>

#include "graph/gradient/gradients.h"

namespace sluice::gradient {

// Adds tensors by AddN (first on each device, then over devices), concatenates slices, and converts
// a mixture to tensors. None for no summands. `op` computes the tensor, and names the tree form.
Grad Sum(const Node& op, const std::vector<Grad>& summands, AggregationMethod method);

}  // namespace sluice::gradient

#endif  // SLUICE_GRAPH_GRADIENT_AGGREGATE_H_
