// Functions that add ops for random tensors to a graph. With the same seeds, the ops draw the same
// numbers as TensorFlow's.
//
// Without any seed, every session draws different numbers. Graph::SetRandomSeed makes the numbers
// of all ops repeatable. An op with its own seed (RandomOptions::seed) then draws numbers that
// depend only on the two seeds. The numbers of an op without its own seed also depend on how many
// such ops were added before it.
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

// Draws uniform numbers in [min, max).
Output RandomUniform(Graph& graph, const TensorShape& shape, double min, double max,
                     const RandomOptions& options = {}, At at = At::current());
Output RandomNormal(Graph& graph, const TensorShape& shape, double mean, double stddev,
                    const RandomOptions& options = {}, At at = At::current());
// Draws normal numbers. Draws a number again if it differs from the mean by more than two standard
// deviations.
Output TruncatedNormal(Graph& graph, const TensorShape& shape, double mean, double stddev,
                       const RandomOptions& options = {}, At at = At::current());

// Returns the attributes (seed, seed2) for a new random op, given the graph's seed and `op_seed`.
// Returns (0, 0), which makes the numbers nondeterministic, if neither is set. Call it once per op:
// without `op_seed`, each call returns another seed2. Reference: tf.compat.v1.get_seed.
std::pair<int64_t, int64_t> SeedsFor(Graph& graph, std::optional<int64_t> op_seed);

}  // namespace sluice

#endif  // SLUICE_OPS_RANDOM_RANDOM_VALUES_H_
