// Losses for classification with very many classes, estimated from a sample of the classes.
//
//   auto sample = LogUniformCandidateSampler(labels, 1, 64, true, classes);
//   Output loss = ReduceMean(losses::Nce(weights, biases, labels, hidden,
//                                        {sample.sampled_candidates, sample.true_expected_count,
//                                         sample.sampled_expected_count}));
//
// Only the rows of `weights` [classes, size] and `biases` [classes] that belong to true or sampled
// classes are read and have gradients.
//
// Thread safety: that of the graph, which one thread at a time builds.
// Ownership: the graph owns the nodes.
// Errors: stay in the graph; the result is then invalid.
// Reference: tf.nn.nce_loss, tf.nn.sampled_softmax_loss.
#ifndef SLUICE_TRAINING_LAYERS_SAMPLED_LOSS_H_
#define SLUICE_TRAINING_LAYERS_SAMPLED_LOSS_H_

#include <optional>
#include <string_view>

#include "graph/ir/graph.h"
#include "ops/state/variable.h"

namespace sluice::losses {

// The outputs of a candidate sampler.
struct Sample {
  // int64 [n]: the sampled classes.
  Output classes;
  // float [batch, true classes]: the expected number of times that each true class is sampled.
  Output true_expected;
  // float [n]: the expected number of times that each class in `classes` is sampled.
  Output expected;
};

struct SampledOptions {
  // Whether to ignore sampled classes that are true classes of the example. Nullopt: false for Nce,
  // true for SampledSoftmax.
  std::optional<bool> remove_accidental_hits;
  std::string_view name = "";
};

// Noise-contrastive estimation (Gutmann and Hyvärinen 2010): a loss that teaches the model to
// distinguish true classes from sampled ones. Returns one loss per example. labels: int64 [batch,
// true classes], with a known second size; inputs: [batch, size].
Output Nce(const Variable& weights, const Variable& biases, Output labels, Output inputs,
           const Sample& sample, const SampledOptions& options = {}, At at = At::current());
// The cross entropy of a softmax over the true and the sampled classes only (Jean et al. 2014).
// Arguments and result are those of Nce. Only for training.
Output SampledSoftmax(const Variable& weights, const Variable& biases, Output labels, Output inputs,
                      const Sample& sample, const SampledOptions& options = {},
                      At at = At::current());

}  // namespace sluice::losses

#endif  // SLUICE_TRAINING_LAYERS_SAMPLED_LOSS_H_
