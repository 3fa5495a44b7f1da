// Makes reproducible feeds for the graphs of the benchmarks.
#ifndef SLUICE_BENCHMARKS_GRAPHS_FEED_H_
#define SLUICE_BENCHMARKS_GRAPHS_FEED_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace sluice {

// Makes the feed at position `index` from its description, "DTYPE:SHAPE:LAW". DTYPE: f32, i32 or
// i64. SHAPE: "128x784", empty for a scalar. LAW: const(v), normal, uniform(n), zipf(n) or
// onehot(n).
//
// Element i is computed from number i of a sequence of uniform numbers in [0, 1): splitmix64 makes
// number i from ((index + 1) << 32) + i. normal is the Box-Muller transform of numbers 2i and
// 2i + 1. zipf is the log-uniform distribution.
absl::StatusOr<Tensor> MakeFeed(std::string_view description, uint64_t index);

}  // namespace sluice

#endif  // SLUICE_BENCHMARKS_GRAPHS_FEED_H_
