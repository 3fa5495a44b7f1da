// Counts the multiply-adds of convolutions (OpTraits::multiply_adds).
#ifndef SLUICE_OPS_CONV_MULTIPLY_ADDS_H_
#define SLUICE_OPS_CONV_MULTIPLY_ADDS_H_

#include <algorithm>
#include <cstdint>

#include "graph/ir/graph.h"

namespace sluice {

// Each output element is a sum over all elements of the filter that belong to its output channel.
inline double MultiplyAddsOfConv(const Node& node, const double* inputs, double outputs) {
  const PartialShape& filter = node.input(1).shape();
  const bool known = filter.rank_known() && filter.rank() > 0;
  const int64_t channels = known ? filter.dim(filter.rank() - 1) : 1;
  return outputs * inputs[1] / static_cast<double>(std::max<int64_t>(channels, 1));
}

}  // namespace sluice

#endif  // SLUICE_OPS_CONV_MULTIPLY_ADDS_H_
