#include "ops/random/initializer.h"

#include <algorithm>
#include <cmath>

#include "ops/random/random_values.h"

namespace sluice {
namespace {

// Returns fan_in and fan_out. For a filter, both are multiplied by its spatial sizes.
std::pair<double, double> Fans(const TensorShape& shape) {
  if (shape.rank() == 0) return {1, 1};
  if (shape.rank() == 1) return {shape.dim(0), shape.dim(0)};
  double field = 1;
  for (int i = 0; i < shape.rank() - 2; ++i) field *= static_cast<double>(shape.dim(i));
  return {field * static_cast<double>(shape.dim(shape.rank() - 2)),
          field * static_cast<double>(shape.dim(shape.rank() - 1))};
}

double FanFor(FanMode mode, const TensorShape& shape) {
  const auto [in, out] = Fans(shape);
  const double n = mode == FanMode::kIn ? in : mode == FanMode::kOut ? out : (in + out) / 2;
  return std::max(1.0, n);
}

// The standard deviation of a normal distribution that is truncated at two standard deviations.
constexpr double kTruncatedStddev = .87962566103423978;

}  // namespace

Initializer RandomUniformInit(double min, double max, Seed seed) {
  return [=](Graph& g, const TensorShape& shape, DataType dtype) {
    return RandomUniform(g, shape, min, max, {.dtype = dtype, .seed = seed});
  };
}
Initializer RandomNormalInit(double mean, double stddev, Seed seed) {
  return [=](Graph& g, const TensorShape& shape, DataType dtype) {
    return RandomNormal(g, shape, mean, stddev, {.dtype = dtype, .seed = seed});
  };
}
Initializer TruncatedNormalInit(double mean, double stddev, Seed seed) {
  return [=](Graph& g, const TensorShape& shape, DataType dtype) {
    return TruncatedNormal(g, shape, mean, stddev, {.dtype = dtype, .seed = seed});
  };
}

Initializer VarianceScaling(const VarianceScalingOptions& options) {
  return [options](Graph& g, const TensorShape& shape, DataType dtype) {
    const double variance = options.scale / FanFor(options.mode, shape);
    const RandomOptions random = {.dtype = dtype, .seed = options.seed};
    switch (options.distribution) {
      case InitDistribution::kTruncatedNormal:
        return TruncatedNormal(g, shape, 0, std::sqrt(variance) / kTruncatedStddev, random);
      case InitDistribution::kUntruncatedNormal:
        return RandomNormal(g, shape, 0, std::sqrt(variance), random);
      case InitDistribution::kUniform:
        break;
    }
    const double limit = std::sqrt(3 * variance);
    return RandomUniform(g, shape, -limit, limit, random);
  };
}

Initializer GlorotUniform(Seed seed) {
  return VarianceScaling(
      {.mode = FanMode::kAverage, .distribution = InitDistribution::kUniform, .seed = seed});
}
Initializer GlorotNormal(Seed seed) {
  return VarianceScaling({.mode = FanMode::kAverage, .seed = seed});
}
Initializer HeUniform(Seed seed) {
  return VarianceScaling({.scale = 2, .distribution = InitDistribution::kUniform, .seed = seed});
}
Initializer HeNormal(Seed seed) { return VarianceScaling({.scale = 2, .seed = seed}); }

}  // namespace sluice
