// Losses over very many classes, from a sample of them.
//
//   auto sample = LogUniformCandidateSampler(labels, 1, 64, true, classes);
//   Output loss = ReduceMean(losses::Nce(weights, biases, labels, hidden,
//                                        {sample.sampled_candidates, sample.true_expected_count,
//                                         sample.sampled_expected_count}));
//
// Reference behaviour: tf.nn.nce_loss, tf.nn.sampled_softmax_loss. Only the rows of `weights`
// [classes, size] and `biases` [classes] that were drawn are read, and have gradients.
#ifndef SLUICE_TRAINING_LAYERS_SAMPLED_LOSS_H_
#define SLUICE_TRAINING_LAYERS_SAMPLED_LOSS_H_

#include <optional>
#include <string_view>

#include "graph/ir/graph.h"
#include "ops/state/variable.h"

namespace sluice::losses {

// What a candidate sampler gives.
struct Sample {
  Output classes;        // int64 [n]
  Output true_expected;  // float [batch, true classes]
  Output expected;       // float [n]
};

struct SampledOptions {
  // A sampled class that is an example's true one does not count against it. Unset: Nce counts it,
  // SampledSoftmax does not.
  std::optional<bool> remove_accidental_hits;
  std::string_view name = "";
};

// One loss an example; labels int64 [batch, true classes] with a size that is known, inputs
// [batch, size].
//
// Noise-contrastive estimation (Gutmann and Hyvärinen, 2010): tells true classes from sampled ones.
Output Nce(const Variable& weights, const Variable& biases, Output labels, Output inputs,
           const Sample& sample, const SampledOptions& options = {}, At at = At::current());
// The softmax over the true and the sampled classes (Jean et al., 2014): for training only.
Output SampledSoftmax(const Variable& weights, const Variable& biases, Output labels, Output inputs,
                      const Sample& sample, const SampledOptions& options = {},
                      At at = At::current());

}  // namespace sluice::losses

#endif  // SLUICE_TRAINING_LAYERS_SAMPLED_LOSS_H_
