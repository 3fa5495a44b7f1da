// Random tensors. The same seeds give TensorFlow's numbers.
//
// Without any seed every session draws other numbers. Graph::SetRandomSeed makes all of them
// repeatable; an op's own seed keeps its numbers apart from the others'.
#ifndef SLUICE_OPS_RANDOM_RANDOM_VALUES_H_
#define SLUICE_OPS_RANDOM_RANDOM_VALUES_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "graph/ir/graph.h"

namespace sluice {

struct RandomOptions {
  DataType dtype = DT_FLOAT;
  std::optional<int64_t> seed;
  std::string_view name = "";
};

// [min, max).
Output RandomUniform(Graph& graph, const TensorShape& shape, double min, double max,
                     const RandomOptions& options = {}, At at = At::current());
Output RandomNormal(Graph& graph, const TensorShape& shape, double mean, double stddev,
                    const RandomOptions& options = {}, At at = At::current());
// Values beyond two standard deviations are drawn again.
Output TruncatedNormal(Graph& graph, const TensorShape& shape, double mean, double stddev,
                       const RandomOptions& options = {}, At at = At::current());

// Attributes (seed, seed2) for a random op about to be made: the graph's and the op's seed, or
// (0, 0) when there is neither.
std::pair<int64_t, int64_t> SeedsFor(Graph& graph, std::optional<int64_t> op_seed);

}  // namespace sluice

#endif  // SLUICE_OPS_RANDOM_RANDOM_VALUES_H_
