// Sums the gradients that reach one tensor from its readers.
#ifndef SLUICE_GRAPH_GRADIENT_AGGREGATE_H_
#define SLUICE_GRAPH_GRADIENT_AGGREGATE_H_

#include <vector>

#include "graph/gradient/gradients.h"

namespace sluice::gradient {

// Returns the sum of the gradients that reach one output of `op`. Without summands, the result is
// none (Grad::is_none). If all are slices, the slices are concatenated. If only some are slices,
// these are converted to tensors, and one AddN adds all. If all are tensors, they are added by
// `method`: kAddN adds them first on each device and then across devices. A tree of additions is in
// the name scope "<op>_gradient_sum".
Grad Sum(const Node& op, const std::vector<Grad>& summands, AggregationMethod method);

}  // namespace sluice::gradient

#endif  // SLUICE_GRAPH_GRADIENT_AGGREGATE_H_
