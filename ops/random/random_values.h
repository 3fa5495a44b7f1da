// Builder functions of random tensors. Equal seeds give TensorFlow's numbers.
//
// Without a seed, every session draws different numbers. Graph::SetRandomSeed makes the numbers of
// all ops repeatable. An op with its own seed draws numbers that do not depend on other ops.
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

// Uniform numbers in [min, max).
Output RandomUniform(Graph& graph, const TensorShape& shape, double min, double max,
                     const RandomOptions& options = {}, At at = At::current());
Output RandomNormal(Graph& graph, const TensorShape& shape, double mean, double stddev,
                    const RandomOptions& options = {}, At at = At::current());
// Values beyond two standard deviations are drawn again.
Output TruncatedNormal(Graph& graph, const TensorShape& shape, double mean, double stddev,
                       const RandomOptions& options = {}, At at = At::current());

// The attributes (seed, seed2) of the next random op, from the graph's and the op's seed. (0, 0) if
// neither has been set.
std::pair<int64_t, int64_t> SeedsFor(Graph& graph, std::optional<int64_t> op_seed);

}  // namespace sluice

#endif  // SLUICE_OPS_RANDOM_RANDOM_VALUES_H_
