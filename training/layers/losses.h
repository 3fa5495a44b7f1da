// Losses: one number for the difference between predictions and labels.
//
//   Output loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
//   Output total = losses::Total(g);    // all losses so far, with regularization
//
// A loss multiplies the value of each example by its weight and reduces the results as Reduction
// says, by default to the mean over nonzero weights. It is added to the collection "losses". Values
// are those of tf.compat.v1.losses. Shapes of weights are checked when the graph is built. Errors
// stay in the graph, and the outputs are then invalid.
#ifndef SLUICE_TRAINING_LAYERS_LOSSES_H_
#define SLUICE_TRAINING_LAYERS_LOSSES_H_

#include <string_view>

#include "graph/ir/graph.h"
#include "training/layers/layer.h"

namespace sluice::losses {

enum class Reduction {
  kSumByNonzeroWeights,  // sum / number of nonzero weights
  kSum,
  kMean,              // sum / sum of the weights
  kSumOverBatchSize,  // sum / number of values
  kNone,              // no reduction: the weighted values
};

struct Options {
  Output weights;  // invalid: 1. A scalar, or of the values' rank with broadcast sizes
  Reduction reduction = Reduction::kSumByNonzeroWeights;
  std::string_view name = "";  // scope; "" = the loss's name
};

// Weights and reduces per-example values.
Output Weighted(Output values, const Options& options = {}, At at = At::current());

// labels [batch]: class numbers; logits [batch, classes].
Output SparseSoftmaxCrossEntropy(Output labels, Output logits, const Options& options = {},
                                 At at = At::current());
// labels: probabilities, of the shape of logits. label_smoothing moves them towards the uniform
// distribution.
Output SoftmaxCrossEntropy(Output labels, Output logits, const Options& options = {},
                           float label_smoothing = 0, At at = At::current());
// Each class is a separate yes/no decision.
Output SigmoidCrossEntropy(Output labels, Output logits, const Options& options = {},
                           float label_smoothing = 0, At at = At::current());
Output MeanSquaredError(Output labels, Output predictions, const Options& options = {},
                        At at = At::current());
Output AbsoluteDifference(Output labels, Output predictions, const Options& options = {},
                          At at = At::current());
// Quadratic up to `delta`, linear beyond.
Output Huber(Output labels, Output predictions, float delta = 1, const Options& options = {},
             At at = At::current());
// Labels are 0 and 1.
Output Hinge(Output labels, Output logits, const Options& options = {}, At at = At::current());
// Predictions are probabilities.
Output Log(Output labels, Output predictions, const Options& options = {}, float epsilon = 1e-7f,
           At at = At::current());
// 1 - the dot product over `axis`. The vectors must have unit length.
Output CosineDistance(Output labels, Output predictions, int axis, const Options& options = {},
                      At at = At::current());

// The sum of all regularization losses; 0 if there are none.
Output Regularization(Graph& graph, At at = At::current());
// The sum of all losses of the graph and Regularization.
Output Total(Graph& graph, At at = At::current());

// max(x, 0) - x * z + log(1 + exp(-|x|)) per element: the cross entropy of sigmoid(logits).
// Reference: tf.nn.sigmoid_cross_entropy_with_logits.
Output SigmoidCrossEntropyWithLogits(Output labels, Output logits,
                                     std::string_view name = "logistic_loss",
                                     At at = At::current());

}  // namespace sluice::losses

#endif  // SLUICE_TRAINING_LAYERS_LOSSES_H_
