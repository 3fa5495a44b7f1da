// Counts the multiply-adds of convolutions (OpTraits::multiply_adds).
#ifndef SLUICE_OPS_CONV_MULTIPLY_ADDS_H_
#define SLUICE_OPS_CONV_MULTIPLY_ADDS_H_

#include <algorithm>
#include <cstdint>

#include "graph/ir/graph.h"

namespace sluice {

// Returns the number of multiply-adds of a convolution. `inputs` has the number of elements of each
// input, and `outputs` is that of the output. For each output element, it counts the elements of
// the filter (input 1) with one index in the last dimension. In Conv2D and Conv3D, this is an
// output channel.
inline double MultiplyAddsOfConv(const Node& node, const double* inputs, double outputs) {
  const PartialShape& filter = node.input(1).shape();
  const bool known = filter.rank_known() && filter.rank() > 0;
  const int64_t channels = known ? filter.dim(filter.rank() - 1) : 1;
  return outputs * inputs[1] / static_cast<double>(std::max<int64_t>(channels, 1));
}

}  // namespace sluice

#endif  // SLUICE_OPS_CONV_MULTIPLY_ADDS_H_
