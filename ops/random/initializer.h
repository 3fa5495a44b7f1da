// Random initial values of variables.
//
//   Variable w(g, "w", {784, 10}, GlorotUniform());
#ifndef SLUICE_OPS_RANDOM_INITIALIZER_H_
#define SLUICE_OPS_RANDOM_INITIALIZER_H_

#include <cstdint>
#include <optional>

#include "ops/state/initializer.h"

namespace sluice {

// Without a seed, the graph's seed applies. Without that, every session draws different numbers.
using Seed = std::optional<int64_t>;
Initializer RandomUniformInit(double min = -0.05, double max = 0.05, Seed seed = {});
Initializer RandomNormalInit(double mean = 0.0, double stddev = 1.0, Seed seed = {});
Initializer TruncatedNormalInit(double mean = 0.0, double stddev = 1.0, Seed seed = {});

// The variance is `scale` / n. n is the number of inputs, the number of outputs, or the mean of
// both, of a matrix or of a convolution's filter [..., in, out].
enum class FanMode { kIn, kOut, kAverage };
enum class InitDistribution { kTruncatedNormal, kUntruncatedNormal, kUniform };
struct VarianceScalingOptions {
  double scale = 1.0;
  FanMode mode = FanMode::kIn;
  InitDistribution distribution = InitDistribution::kTruncatedNormal;
  Seed seed = {};
};
Initializer VarianceScaling(const VarianceScalingOptions& options = {});
// Glorot and Bengio (2010): scale 1 and the mean of inputs and outputs.
Initializer GlorotUniform(Seed seed = {});
Initializer GlorotNormal(Seed seed = {});
// He et al. (2015): scale 2 and the number of inputs.
Initializer HeUniform(Seed seed = {});
Initializer HeNormal(Seed seed = {});

}  // namespace sluice

#endif  // SLUICE_OPS_RANDOM_INITIALIZER_H_
