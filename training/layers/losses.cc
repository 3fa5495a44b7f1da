#include "training/layers/losses.h"

#include <string>

#include "graph/status.h"
#include "ops/array/builders.h"
#include "ops/array/shaping.h"
#include "ops/builders/number_ops.h"
#include "ops/indexing/subscript.h"
#include "ops/math/builders.h"
#include "ops/nn/builders.h"
#include "ops/reduce/builders.h"
#include "ops/reduce/reduce_axes.h"
#include "training/layers/name_or.h"

namespace sluice::losses {
namespace {

// Returns whether weights are a scalar, or have the rank of `values` with sizes that are equal or
// 1.
bool MayBroadcast(const PartialShape& weights, const PartialShape& values) {
  if (!weights.rank_known() || !values.rank_known() || weights.rank() == 0) return true;
  if (weights.rank() != values.rank()) return false;
  for (int i = 0; i < weights.rank(); ++i) {
    const int64_t w = weights.dim(i), v = values.dim(i);
    if (w > 1 && v >= 0 && w != v) return false;
  }
  return true;
}

// Returns the number of values whose weight is not zero.
Output Present(Output values, Output weights, At at) {
  NameScope scope(*values.graph(), "num_present");
  const Output is = NotEqual(Operand(weights, at), Operand(0, at));
  const Output each = Cast(is, BaseType(values.dtype()), {}, at) * OnesLike(values, {}, at);
  return ReduceSum(each, {}, {}, at);
}

Output Reduced(Output values, Output weights, Output weighed, Reduction reduction, At at) {
  if (reduction == Reduction::kNone) return weighed;
  const Output sum = ReduceSum(weighed, {}, {}, at);
  switch (reduction) {
    case Reduction::kSum:
      return sum;
    case Reduction::kMean:
      return DivNoNan(sum, ReduceSum(OnesLike(values, {}, at) * weights, {}, {}, at),
                      {.name = "value"}, at);
    case Reduction::kSumOverBatchSize:
      return DivNoNan(sum, Cast(SizeOf(values, {}, at), BaseType(values.dtype()), {}, at),
                      {.name = "value"}, at);
    default:
      return DivNoNan(sum, Present(values, weights, at), {.name = "value"}, at);
  }
}

// Adds the nodes of a weighted loss to the open name scope.
Output Weigh(Output values, const Options& options, At at) {
  if (!values) return Output();
  Graph& g = *values.graph();
  const DataType dtype = BaseType(values.dtype());
  Output weights = options.weights;
  if (!weights) weights = Constant(g, Number(1), dtype, {}, at);
  if (weights.dtype() != dtype) weights = Cast(weights, dtype, {}, at);
  if (!MayBroadcast(weights.shape(), values.shape())) {
    g.SetError(
        InvalidArgument("loss '", g.scopes().name, "': expected weights for values of shape ",
                        values.shape().ToString(), ", got ", weights.shape().ToString()),
        at);
    return Output();
  }
  const Output weighed = Mul(values, weights, {}, at);
  const Output loss = Reduced(values, weights, weighed, options.reduction, at);
  if (loss) g.AddToCollection(kLosses, loss.name());
  return loss;
}

template <typename Values>
Output Loss(Output labels, Output predictions, const Options& options, std::string_view name, At at,
            const Values& values) {
  if (!labels || !predictions) return Output();
  NameScope scope(*predictions.graph(), NameOr(options.name, name));
  const DataType dtype = BaseType(predictions.dtype());
  const Output typed = labels.dtype() == dtype ? labels : Cast(labels, dtype, {}, at);
  return Weigh(values(typed), options, at);
}

Output Sum(const OutputList& losses, std::string_view name, At at) {
  if (losses.size() == 1) return Identity(losses[0], {.name = name}, at);
  return AddN(losses, {.name = name}, at);
}

OutputList Collected(const Graph& graph, std::string_view key) {
  OutputList tensors;
  for (const std::string& name : graph.Collection(key)) {
    if (absl::StatusOr<Output> tensor = graph.FindOutput(name); tensor.ok()) {
      tensors.push_back(*tensor);
    }
  }
  return tensors;
}

}  // namespace

Output Weighted(Output values, const Options& options, At at) {
  if (!values) return Output();
  NameScope scope(*values.graph(), NameOr(options.name, "weighted_loss"));
  return Weigh(values, options, at);
}

Output SparseSoftmaxCrossEntropy(Output labels, Output logits, const Options& options, At at) {
  if (!labels || !logits) return Output();
  NameScope scope(*logits.graph(), NameOr(options.name, "sparse_softmax_cross_entropy_loss"));
  const Output values = SparseSoftmaxCrossEntropyWithLogits(logits, labels, {}, at).loss;
  return Weigh(values, options, at);
}

Output SoftmaxCrossEntropy(Output labels, Output logits, const Options& options,
                           float label_smoothing, At at) {
  return Loss(labels, logits, options, "softmax_cross_entropy_loss", at, [&](Output truth) {
    if (label_smoothing > 0) {
      const Output shape = ShapeOf(logits, {}, at);
      const Output classes =
          Cast(ElementAt(shape, 1, "strided_slice", at), BaseType(logits.dtype()), {}, at);
      truth = truth * (1 - label_smoothing) + label_smoothing / classes;
    }
    return SoftmaxCrossEntropyWithLogits(logits, StopGradient(truth, {}, at), {}, at).loss;
  });
}

Output SigmoidCrossEntropy(Output labels, Output logits, const Options& options,
                           float label_smoothing, At at) {
  return Loss(labels, logits, options, "sigmoid_cross_entropy_loss", at, [&](Output truth) {
    if (label_smoothing > 0) truth = truth * (1 - label_smoothing) + 0.5f * label_smoothing;
    return SigmoidCrossEntropyWithLogits(truth, logits, "xentropy", at);
  });
}

Output MeanSquaredError(Output labels, Output predictions, const Options& options, At at) {
  return Loss(labels, predictions, options, "mean_squared_error", at,
              [&](Output truth) { return SquaredDifference(predictions, truth, {}, at); });
}

Output AbsoluteDifference(Output labels, Output predictions, const Options& options, At at) {
  return Loss(labels, predictions, options, "absolute_difference", at,
              [&](Output truth) { return Abs(predictions - truth, {}, at); });
}

Output Huber(Output labels, Output predictions, float delta, const Options& options, At at) {
  return Loss(labels, predictions, options, "huber_loss", at, [&](Output truth) {
    const Output error = Abs(predictions - truth, {}, at);
    const Output near = Minimum(error, delta);
    const Output far = error - near;
    const Output square = 0.5f * (near * near);
    return square + delta * far;
  });
}

Output Hinge(Output labels, Output logits, const Options& options, At at) {
  return Loss(labels, logits, options, "hinge_loss", at, [&](Output truth) {
    const Output side = 2.0f * truth - 1.0f;
    return Relu(1.0f - side * logits, {}, at);
  });
}

Output Log(Output labels, Output predictions, const Options& options, float epsilon, At at) {
  return Loss(labels, predictions, options, "log_loss", at, [&](Output truth) {
    const Output hit = truth * sluice::Log(predictions + epsilon, {}, at);
    const Output miss = (1.0f - truth) * sluice::Log(1.0f - predictions + epsilon, {}, at);
    return Neg(hit, {}, at) - miss;
  });
}

Output CosineDistance(Output labels, Output predictions, int axis, const Options& options, At at) {
  return Loss(labels, predictions, options, "cosine_distance_loss", at, [&](Output truth) {
    return 1.0f - ReduceSum(predictions * truth, {axis}, {.keep_dims = true}, at);
  });
}

Output Regularization(Graph& graph, At at) {
  const OutputList costs = Collected(graph, kRegularizationLosses);
  if (costs.empty()) return Constant(graph, 0.0f, {}, at);
  return Sum(costs, "total_regularization_loss", at);
}

Output Total(Graph& graph, At at) {
  OutputList all = Collected(graph, kLosses);
  for (const Output& cost : Collected(graph, kRegularizationLosses)) all.push_back(cost);
  if (all.empty()) return Constant(graph, 0.0f, {}, at);
  return Sum(all, "total_loss", at);
}

Output SigmoidCrossEntropyWithLogits(Output labels, Output logits, std::string_view name, At at) {
  if (!labels || !logits) return Output();
  NameScope scope(*logits.graph(), name);
  const Output zeros = ZerosLike(logits, {}, at);
  const Output positive = GreaterEqual(logits, zeros, {}, at);
  const Output relu = Select(positive, logits, zeros, {}, at);
  const Output negative = Neg(logits, {}, at);
  const Output minus_size = Select(positive, negative, logits, {}, at);
  const Output product = logits * labels;
  const Output linear = relu - product;
  const Output curve = Log1p(Exp(minus_size, {}, at), {}, at);
  return AddV2(linear, curve, {.name = scope.prefix()}, at);
}

}  // namespace sluice::losses
