// First values of variables: functions of a shape and a type that make the nodes of the value.
//
//   Variable w(g, "w", {784, 10}, GlorotUniform());
//
// Any function of this form will do. It runs under the name scope `w/Initializer/`.
#ifndef SLUICE_OPS_BUILDERS_INITIALIZER_H_
#define SLUICE_OPS_BUILDERS_INITIALIZER_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "graph/ir/graph.h"
#include "ops/builders/constant.h"

namespace sluice {

using Initializer = std::function<Output(Graph& graph, const TensorShape& shape, DataType dtype)>;

Initializer Zeros();
Initializer Ones();
Initializer ConstantInit(Number value);
// The tensor itself; its shape must be the variable's.
Initializer ConstantInit(Tensor value);
// A number in every place: ConstantInit(0.5f).
template <typename T>
requires std::is_arithmetic_v<T> Initializer ConstantInit(T value) {
  return ConstantInit(Number(value));
}

// Without a seed the graph's decides, and without that every session draws anew.
using Seed = std::optional<int64_t>;
Initializer RandomUniformInit(double min = -0.05, double max = 0.05, Seed seed = {});
Initializer RandomNormalInit(double mean = 0.0, double stddev = 1.0, Seed seed = {});
Initializer TruncatedNormalInit(double mean = 0.0, double stddev = 1.0, Seed seed = {});

// Variance `scale` / n, where n counts the inputs, the outputs, or the mean of both, of a matrix or
// a convolution's filter [..., in, out].
enum class FanMode { kIn, kOut, kAverage };
enum class InitDistribution { kTruncatedNormal, kUntruncatedNormal, kUniform };
struct VarianceScalingOptions {
  double scale = 1.0;
  FanMode mode = FanMode::kIn;
  InitDistribution distribution = InitDistribution::kTruncatedNormal;
  Seed seed = {};
};
Initializer VarianceScaling(const VarianceScalingOptions& options = {});
// Glorot and Bengio (2010): scale 1, average of both.
Initializer GlorotUniform(Seed seed = {});
Initializer GlorotNormal(Seed seed = {});
// He et al. (2015): scale 2, inputs.
Initializer HeUniform(Seed seed = {});
Initializer HeNormal(Seed seed = {});

}  // namespace sluice

#endif  // SLUICE_OPS_BUILDERS_INITIALIZER_H_
