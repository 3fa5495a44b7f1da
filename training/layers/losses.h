// Losses: how far predictions are from labels, as one number.
//
//   Output loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
//   Output total = losses::Total(g);    // all losses so far, and what regularizers add
//
// A loss weighs each example's value, adds them up and divides by how many have a weight other than
// 0 (Reduction). It is added to the collection "losses". Values are those of tf.compat.v1.losses;
// the checks that weights may be broadcast are made when the graph is built. Errors stay in the
// graph and give invalid outputs.
#ifndef SLUICE_TRAINING_LAYERS_LOSSES_H_
#define SLUICE_TRAINING_LAYERS_LOSSES_H_

#include <string_view>

#include "graph/ir/graph.h"
#include "training/layers/layer.h"

namespace sluice::losses {

enum class Reduction {
  kSumByNonzeroWeights,  // sum / number of weights that are not 0
  kSum,
  kMean,              // sum / sum of the weights
  kSumOverBatchSize,  // sum / number of values
  kNone,              // the values, weighed
};

struct Options {
  Output weights;  // none: 1. A scalar, or of the values' rank with sizes equal or 1
  Reduction reduction = Reduction::kSumByNonzeroWeights;
  std::string_view name = "";  // scope; "" = the loss's
};

// The values' loss itself.
Output Weighted(Output values, const Options& options = {}, At at = At::current());

// labels [batch], integers; logits [batch, classes].
Output SparseSoftmaxCrossEntropy(Output labels, Output logits, const Options& options = {},
                                 At at = At::current());
// labels: probabilities, of the shape of logits. label_smoothing moves them towards even ones.
Output SoftmaxCrossEntropy(Output labels, Output logits, const Options& options = {},
                           float label_smoothing = 0, At at = At::current());
// Of each class by itself.
Output SigmoidCrossEntropy(Output labels, Output logits, const Options& options = {},
                           float label_smoothing = 0, At at = At::current());
Output MeanSquaredError(Output labels, Output predictions, const Options& options = {},
                        At at = At::current());
Output AbsoluteDifference(Output labels, Output predictions, const Options& options = {},
                          At at = At::current());
// Squares up to `delta`, a line from there on.
Output Huber(Output labels, Output predictions, float delta = 1, const Options& options = {},
             At at = At::current());
// Labels 0 and 1.
Output Hinge(Output labels, Output logits, const Options& options = {}, At at = At::current());
// Of probabilities.
Output Log(Output labels, Output predictions, const Options& options = {}, float epsilon = 1e-7f,
           At at = At::current());
// 1 - the sum of products over `axis`: of vectors of length 1.
Output CosineDistance(Output labels, Output predictions, int axis, const Options& options = {},
                      At at = At::current());

// What the regularizers of all variables add; 0 where there are none.
Output Regularization(Graph& graph, At at = At::current());
// All losses of the graph, and Regularization.
Output Total(Graph& graph, At at = At::current());

// max(x, 0) - x * z + log(1 + exp(-|x|)), element by element: the cross entropy of sigmoid(logits).
// Reference behaviour: tf.nn.sigmoid_cross_entropy_with_logits.
Output SigmoidCrossEntropyWithLogits(Output labels, Output logits,
                                     std::string_view name = "logistic_loss",
                                     At at = At::current());

}  // namespace sluice::losses

#endif  // SLUICE_TRAINING_LAYERS_LOSSES_H_
