// Initializers that give variables random initial values.
//
//   Variable w(g, "w", {784, 10}, GlorotUniform());
#ifndef SLUICE_OPS_RANDOM_INITIALIZER_H_
#define SLUICE_OPS_RANDOM_INITIALIZER_H_

#include <cstdint>
#include <optional>

#include "ops/state/initializer.h"

namespace sluice {

// The seed of one initializer. An empty Seed means the graph's seed (Graph::SetRandomSeed). If the
// graph has none either, every session draws different numbers.
using Seed = std::optional<int64_t>;
Initializer RandomUniformInit(double min = -0.05, double max = 0.05, Seed seed = {});
Initializer RandomNormalInit(double mean = 0.0, double stddev = 1.0, Seed seed = {});
Initializer TruncatedNormalInit(double mean = 0.0, double stddev = 1.0, Seed seed = {});

// VarianceScaling draws numbers with mean 0 and variance `scale` / n. FanMode chooses n: the
// fan-in, the fan-out, or the mean of both. The variable is a matrix [in, out] or a convolution's
// filter [sizes..., in, out]. Its fan-in is the product of the sizes and `in`. Its fan-out is the
// product of the sizes and `out`.
enum class FanMode { kIn, kOut, kAverage };
enum class InitDistribution { kTruncatedNormal, kUntruncatedNormal, kUniform };
struct VarianceScalingOptions {
  double scale = 1.0;
  FanMode mode = FanMode::kIn;
  InitDistribution distribution = InitDistribution::kTruncatedNormal;
  Seed seed = {};
};
Initializer VarianceScaling(const VarianceScalingOptions& options = {});
// Glorot and Bengio (2010): VarianceScaling with scale 1 and FanMode::kAverage. GlorotNormal draws
// from a truncated normal distribution.
Initializer GlorotUniform(Seed seed = {});
Initializer GlorotNormal(Seed seed = {});
// He et al. (2015): VarianceScaling with scale 2 and FanMode::kIn. HeNormal draws from a truncated
// normal distribution.
Initializer HeUniform(Seed seed = {});
Initializer HeNormal(Seed seed = {});

}  // namespace sluice

#endif  // SLUICE_OPS_RANDOM_INITIALIZER_H_
