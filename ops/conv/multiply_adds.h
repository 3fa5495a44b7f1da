// Counts the multiply-adds of convolutions (OpTraits::multiply_adds).
#ifndef SLUICE_OPS_CONV_MULTIPLY_ADDS_H_
#define SLUICE_OPS_CONV_MULTIPLY_ADDS_H_

#include <algorithm>
#include <cstdint>

#include "graph/ir/graph.h"

namespace sluice {

// The functions return the number of multiply-adds of a convolution. `inputs` has the number of
// elements of each input, and `outputs` is that of the output. For each output element, they count
// the elements of the filter (input 1) that contribute to it.
//
// `output_dims` is the number of the filter's last dimensions that choose among the output
// channels. An output element uses one index of each.
inline double MultiplyAddsOf(const Node& node, const double* inputs, double outputs,
                             int output_dims) {
  const PartialShape& filter = node.input(1).shape();
  double channels = 1;
  for (int i = 1; filter.rank_known() && i <= std::min(output_dims, filter.rank()); ++i) {
    channels *= static_cast<double>(std::max<int64_t>(filter.dim(filter.rank() - i), 1));
  }
  return outputs * inputs[1] / channels;
}
inline double MultiplyAddsOfConv(const Node& node, const double* inputs, double outputs) {
  return MultiplyAddsOf(node, inputs, outputs, /*output_dims=*/1);
}
// Filters are [height, width, channels, m], and there are channels * m output channels.
inline double MultiplyAddsOfDepthwise(const Node& node, const double* inputs, double outputs) {
  return MultiplyAddsOf(node, inputs, outputs, /*output_dims=*/2);
}

}  // namespace sluice

#endif  // SLUICE_OPS_CONV_MULTIPLY_ADDS_H_
