// Values that any program can make again: what graphs of the benchmark are fed.
#ifndef SLUICE_BENCHMARKS_GRAPHS_FEED_H_
#define SLUICE_BENCHMARKS_GRAPHS_FEED_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace sluice {

// The feed at position `index` from its description, "DTYPE:SHAPE:LAW": f32, i32 or i64; "128x784",
// empty for a scalar; const(v), normal, uniform(n), zipf(n) or onehot(n).
//
// Element i draws u, in [0,1), of splitmix64 at ((index+1) << 32) + i; normal is Box and Muller's
// of draws 2i and 2i+1; zipf is the log-uniform law.
absl::StatusOr<Tensor> MakeFeed(std::string_view description, uint64_t index);

}  // namespace sluice

#endif  // SLUICE_BENCHMARKS_GRAPHS_FEED_H_
