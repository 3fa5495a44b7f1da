// Loss functions: each computes one number from the difference between predictions and labels.
//
//   Output loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
//   Output total = losses::Total(g);    // all losses so far, with regularization
//
// A loss multiplies the value of each example by its weight and reduces the results as Reduction
// says, by default to the mean over nonzero weights. It is added to the collection "losses". Labels
// are converted to the type of the predictions.
//
// Thread safety: that of the graph, which one thread at a time builds.
// Ownership: the graph owns the nodes.
// Errors: stay in the graph, and the outputs are then invalid. Shapes of weights are checked when
// the graph is built.
// Reference: tf.compat.v1.losses, with the same values.
#ifndef SLUICE_TRAINING_LAYERS_LOSSES_H_
#define SLUICE_TRAINING_LAYERS_LOSSES_H_

#include <string_view>

#include "graph/ir/graph.h"
#include "training/layers/layer.h"

namespace sluice::losses {

// The way to combine the values of a loss. If the divisor is 0, the result is 0. Reference:
// tf.compat.v1.losses.Reduction.
enum class Reduction {
  // The sum divided by the number of nonzero weights.
  kSumByNonzeroWeights,
  kSum,
  // The sum divided by the sum of the weights.
  kMean,
  // The sum divided by the number of values.
  kSumOverBatchSize,
  // No reduction: the weighted values, in their shape.
  kNone,
};

struct Options {
  // The weights of the values: a scalar, or a tensor of the same rank as the values, in which each
  // size is 1 or the size of the values. An invalid handle stands for 1. A weight of 0 leaves a
  // value out.
  Output weights;
  Reduction reduction = Reduction::kSumByNonzeroWeights;
  // Name scope of the nodes. "": the loss's name in TensorFlow.
  std::string_view name = "";
};

// A loss whose values, such as one per example, the caller has computed. Multiplies them by their
// weights and reduces them.
Output Weighted(Output values, const Options& options = {}, At at = At::current());

// The cross entropy of softmax(logits) for examples that have one true class each. labels [batch]:
// numbers of the true classes, int32 or int64; logits [batch, classes].
Output SparseSoftmaxCrossEntropy(Output labels, Output logits, const Options& options = {},
                                 At at = At::current());

// The cross entropy of softmax(logits) and a distribution over classes. labels: probabilities, of
// the shape of logits [batch, classes]. label_smoothing, in [0, 1], moves them towards the uniform
// distribution. No gradient flows to the labels.
Output SoftmaxCrossEntropy(Output labels, Output logits, const Options& options = {},
                           float label_smoothing = 0, At at = At::current());
// The cross entropy of sigmoid(logits), for classes that are separate yes/no decisions. labels:
// probabilities, of the shape of logits. label_smoothing, in [0, 1], moves them towards 0.5.
Output SigmoidCrossEntropy(Output labels, Output logits, const Options& options = {},
                           float label_smoothing = 0, At at = At::current());
// Losses with the value (prediction - label)^2 and |prediction - label| per element. Labels and
// predictions have the same shape.
Output MeanSquaredError(Output labels, Output predictions, const Options& options = {},
                        At at = At::current());
Output AbsoluteDifference(Output labels, Output predictions, const Options& options = {},
                          At at = At::current());
// The Huber loss of the difference d of prediction and label: quadratic in d if |d| is at most
// `delta`, linear beyond.
Output Huber(Output labels, Output predictions, float delta = 1, const Options& options = {},
             At at = At::current());
// The hinge loss. Labels are 0 and 1, and are converted to -1 and 1.
Output Hinge(Output labels, Output logits, const Options& options = {}, At at = At::current());
// The cross entropy of probabilities: predictions and labels in [0, 1]. `epsilon` avoids log(0).
Output Log(Output labels, Output predictions, const Options& options = {}, float epsilon = 1e-7f,
           At at = At::current());
// The cosine distance: 1 minus the dot product of label and prediction over dimension `axis`. The
// vectors must have unit length.
Output CosineDistance(Output labels, Output predictions, int axis, const Options& options = {},
                      At at = At::current());

// The sum of all regularization losses; 0 if there are none.
Output Regularization(Graph& graph, At at = At::current());
// The sum of all losses of the graph and Regularization.
Output Total(Graph& graph, At at = At::current());

// Returns the cross entropy of sigmoid(logits) per element, without weights, reduction or
// collection. With logits x and labels z it is max(x, 0) - x * z + log(1 + exp(-|x|)). Reference:
// tf.nn.sigmoid_cross_entropy_with_logits.
Output SigmoidCrossEntropyWithLogits(Output labels, Output logits,
                                     std::string_view name = "logistic_loss",
                                     At at = At::current());

}  // namespace sluice::losses

#endif  // SLUICE_TRAINING_LAYERS_LOSSES_H_
