#include "training/layers/normalization.h"

#include <numeric>

#include "graph/status.h"
#include "ops/array/builders.h"
#include "ops/array/shaping.h"
#include "ops/builders/operand.h"
#include "ops/math/builders.h"
#include "ops/nn/builders.h"
#include "ops/reduce/reduce_axes.h"

namespace sluice::layers {
namespace {

// Adds average -= (average - value) * rate, and adds the op to the collection of updates.
template <typename Rate>
void UpdateAverage(const Variable& average, Output value, const Rate& rate, At at) {
  Graph& g = average.graph();
  NameScope scope(g, "AssignMovingAvg");
  ColocateWith with(g, average.op());
  const Output step = rate();
  Output change = average.Read(at) - value;
  change = Mul(change, step, {.name = "mul"}, at);
  const Operation update =
      average.AssignSub(change, {.name = average.is_resource() ? "" : scope.prefix()}, at);
  if (update) g.AddToCollection(kUpdateOps, update.name());
}

}  // namespace

BatchNormalization::BatchNormalization(BatchNormalizationOptions options)
    : Layer(options.name, options.use_resource, options.trainable), options_(std::move(options)) {}

void BatchNormalization::Build(Graph& graph, int64_t channels, DataType dtype, At at) {
  if (moving_mean_) return;
  // For 16-bit types, statistics are kept in 32 bits.
  if (dtype == DT_HALF || dtype == DT_BFLOAT16) dtype = DT_FLOAT;
  const TensorShape shape = {channels};
  if (options_.scale) {
    gamma_ = MakeVariable(graph, dtype, {"gamma", shape, options_.gamma_initializer}, at);
  }
  if (options_.center) {
    beta_ = MakeVariable(graph, dtype, {"beta", shape, options_.beta_initializer}, at);
  }
  const Initializer zeros = Zeros(), ones = Ones();
  moving_mean_ = MakeVariable(
      graph, dtype,
      {.name = "moving_mean", .shape = shape, .initializer = zeros, .trainable = false}, at);
  moving_variance_ = MakeVariable(
      graph, dtype,
      {.name = "moving_variance", .shape = shape, .initializer = ones, .trainable = false}, at);
}

Output BatchNormalization::operator()(Output x, At at) {
  const std::optional<int64_t> channels = KnownDim(x, 2, -1, at);
  if (!channels) return Output();
  Call call(*this, *x.graph());
  const DataType dtype = BaseType(x.dtype());
  Build(*x.graph(), *channels, dtype, at);
  if (!moving_variance_) return Output();
  const bool fused = x.shape().rank() == 4 && dtype != DT_DOUBLE;
  return fused ? Fused(x, *channels, at) : Composed(x, at);
}

Output BatchNormalization::Fused(Output x, int64_t channels, At at) {
  Graph& g = *x.graph();
  auto fixed = [&](float value) {
    return Constant(g, Splat(Tensor::Scalar(value), {channels}), {}, at);
  };
  // Like tf.layers, creates the constant for beta first.
  Output beta, gamma;
  if (!options_.center) beta = fixed(0);
  gamma = options_.scale ? gamma_.Read(at) : fixed(1);
  if (options_.center) beta = beta_.Read(at);
  NameScope scope(g, "FusedBatchNormV3");
  const Output mean = moving_mean_.Read(at), variance = moving_variance_.Read(at);
  const FusedBatchNormV3Outputs normal =
      FusedBatchNormV3(x, gamma, beta, mean, variance,
                       {.name = scope.prefix(),
                        .epsilon = static_cast<float>(options_.epsilon),
                        .is_training = options_.training},
                       at);
  if (!options_.training || !normal.y) return normal.y;
  NameScope outside(g, prefix());
  const Output momentum = Constant(g, Number(options_.momentum), DT_FLOAT, {}, at);
  auto rate = [&] { return 1.0f - momentum; };
  UpdateAverage(moving_mean_, normal.batch_mean, rate, at);
  UpdateAverage(moving_variance_, normal.batch_variance, rate, at);
  return normal.y;
}

Output BatchNormalization::Composed(Output x, At at) {
  Graph& g = *x.graph();
  std::vector<int64_t> axes(x.shape().rank() - 1);
  std::iota(axes.begin(), axes.end(), 0);
  Moments moments;
  if (options_.training) {
    moments = MomentsOf(x, axes, false, at);
    auto rate = [&] {
      return Constant(g, Number(1 - options_.momentum), moving_mean_.dtype(), "decay", at);
    };
    UpdateAverage(moving_mean_, moments.mean, rate, at);
    UpdateAverage(moving_variance_, moments.variance, rate, at);
  } else {
    moments = {moving_mean_.Read(at), moving_variance_.Read(at)};
  }
  const Output offset = options_.center ? beta_.Read(at) : Output();
  const Output scale = options_.scale ? gamma_.Read(at) : Output();
  return Normalize(x, moments, offset, scale, options_.epsilon, at);
}

std::vector<Operation> UpdateOps(const Graph& graph) {
  std::vector<Operation> updates;
  for (const std::string& name : graph.Collection(kUpdateOps)) {
    if (Node* node = graph.Find(name)) updates.push_back(node);
  }
  return updates;
}

Moments MomentsOf(Output x, const std::vector<int64_t>& axes, bool keep_dims, At at) {
  if (!x) return {};
  NameScope scope(*x.graph(), "moments");
  const Output mean = ReduceMean(x, axes, {.keep_dims = true, .name = "mean"}, at);
  const Output fixed = StopGradient(mean, {}, at);
  const Output square = SquaredDifference(x, fixed, {}, at);
  const Output variance = ReduceMean(square, axes, {.keep_dims = true, .name = "variance"}, at);
  if (keep_dims) return {mean, variance};
  const Output flat_mean = Squeeze(mean, {.squeeze_dims = axes}, at);
  return {flat_mean, Squeeze(variance, {.squeeze_dims = axes}, at)};
}

Output Normalize(Output x, const Moments& moments, Output offset, Output scale, double epsilon,
                 At at) {
  if (!x || !moments.mean || !moments.variance) return Output();
  NameScope scope(*x.graph(), "batchnorm");
  Output inverse = Rsqrt(moments.variance + epsilon, {}, at);
  if (scale) inverse = inverse * scale;
  const Output scaled = x * inverse;
  if (!offset) return scaled + Neg(moments.mean, {}, at) * inverse;
  const Output shift = moments.mean * inverse;
  return scaled + (offset - shift);
}

LayerNormalization::LayerNormalization(LayerNormalizationOptions options)
    : Layer(options.name, options.use_resource, options.trainable), options_(std::move(options)) {}

Output LayerNormalization::operator()(Output x, At at) {
  const std::optional<int64_t> width = KnownDim(x, 2, -1, at);
  if (!width) return Output();
  Call call(*this, *x.graph());
  if (!gamma_) {
    const Initializer ones = Ones(), zeros = Zeros();
    gamma_ = MakeVariable(*x.graph(), x.dtype(), {"gamma", {*width}, ones}, at);
    beta_ = MakeVariable(*x.graph(), x.dtype(), {"beta", {*width}, zeros}, at);
  }
  const Moments moments = MomentsOf(x, {x.shape().rank() - 1}, true, at);
  const Output scale = gamma_.Read(at), offset = beta_.Read(at);
  return Normalize(x, moments, offset, scale, options_.epsilon, at);
}

}  // namespace sluice::layers
