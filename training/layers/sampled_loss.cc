#include "training/layers/sampled_loss.h"

#include "graph/status.h"
#include "ops/array/builders.h"
#include "ops/array/shaping.h"
#include "ops/builders/operand.h"
#include "ops/embedding/builders.h"
#include "ops/indexing/builders.h"
#include "ops/indexing/subscript.h"
#include "ops/math/builders.h"
#include "ops/matmul/builders.h"
#include "ops/nn/builders.h"
#include "ops/reduce/reduce_axes.h"
#include "ops/sparse/builders.h"
#include "training/layers/losses.h"

namespace sluice::losses {
namespace {

struct Scored {
  Output labels, logits;  // [batch, true + sampled]
};

// The rows of a variable for the true classes and for the sampled classes. One op gathers both.
struct Rows {
  Output true_rows, sampled_rows;
};

Rows Read(const Variable& table, Output ids, Output true_count, At at) {
  const Output all = Gather(table, ids, "embedding_lookup", at);
  if (!all) return {};
  Graph& g = *all.graph();
  const bool is_matrix = table.shape().rank() == 2;
  auto at_row = [&](Output row) {
    return is_matrix ? Stack({row, Constant(g, int32_t{0}, {}, at)}, 0, {}, at)
                     : Stack({row}, 0, {}, at);
  };
  const Output to_end = Constant(g, int32_t{-1}, {}, at);
  const Output zero = Constant(g, int32_t{0}, {}, at);
  const Output first = Slice(
      all, at_row(zero),
      [&] {
        return is_matrix ? Stack({true_count, to_end}, 0, {}, at) : Stack({true_count}, 0, {}, at);
      }(),
      {}, at);
  const Output rest = Slice(
      all, at_row(true_count),
      [&] {
        return is_matrix ? Stack({to_end, to_end}, 0, {}, at) : Stack({to_end}, 0, {}, at);
      }(),
      {}, at);
  return {first, rest};
}

// Returns a matrix [batch, sampled], which has the lowest float if the sampled class is one of the
// example's true classes, and otherwise 0.
Output AccidentalHits(Output labels, Output sampled, int64_t true_classes, Output shape, At at) {
  const ComputeAccidentalHitsOutputs hits =
      ComputeAccidentalHits(labels, sampled, true_classes, {}, at);
  if (!hits.weights) return Output();
  Graph& g = *labels.graph();
  const Output rows = Reshape(hits.indices, {-1, 1}, {}, at);
  const Output columns = Reshape(Cast(hits.ids, DT_INT32, {}, at), {-1, 1}, {}, at);
  const Output places = Concat({rows, columns}, 1, {}, at);
  return SparseToDense(places, shape, hits.weights, Constant(g, 0.0f, {}, at),
                       {.validate_indices = false}, at);
}

Scored Score(const Variable& weights, const Variable& biases, Output labels, Output inputs,
             const Sample& given, bool remove_hits, At at) {
  Graph& g = *inputs.graph();
  const int64_t size = weights.shape().dim(1), true_classes = labels.shape().dim(1);
  const Sample sample = {StopGradient(given.classes, {}, at),
                         StopGradient(given.true_expected, {}, at),
                         StopGradient(given.expected, {}, at)};
  const Output flat = Reshape(labels, {-1}, {}, at);
  const Output ids = Concat({flat, sample.classes}, 0, {}, at);
  const Output true_count = ElementAt(ShapeOf(flat, {}, at), 0, "strided_slice", at);
  const Rows w = Read(weights, ids, true_count, at), b = Read(biases, ids, true_count, at);
  Output sampled = MatMul(inputs, w.sampled_rows, {.transpose_b = true}, at);
  const Output grouped = Reshape(w.true_rows, {-1, true_classes, size}, {}, at);
  const Output products = Reshape(ExpandDims(inputs, 1, {}, at) * grouped, {-1, size}, {}, at);
  // Sums each row by multiplying with a vector of ones.
  const Output ones = Ones(g, {size, 1}, BaseType(inputs.dtype()), "ones", at);
  Output of_true = Reshape(MatMul(products, ones, {}, at), {-1, true_classes}, {}, at);
  of_true = of_true + Reshape(b.true_rows, {-1, true_classes}, {}, at);
  sampled = sampled + b.sampled_rows;
  if (remove_hits && sampled) {
    sampled = sampled +
              AccidentalHits(labels, sample.classes, true_classes, ShapeOf(sampled, {}, at), at);
  }
  of_true = of_true - sluice::Log(sample.true_expected, {}, at);
  sampled = sampled - sluice::Log(sample.expected, {}, at);
  const Output yes = OnesLike(of_true, {}, at) / static_cast<float>(true_classes);
  const Output no = ZerosLike(sampled, {}, at);
  return {Concat({yes, no}, 1, {}, at), Concat({of_true, sampled}, 1, {}, at)};
}

bool IsComplete(const Variable& weights, const Variable& biases, Output labels, Output inputs,
                const Sample& sample, At at) {
  if (!weights || !biases || !labels || !inputs || !sample.classes) return false;
  const bool fits = weights.shape().rank_known() && weights.shape().rank() == 2 &&
                    labels.shape().rank_known() && labels.shape().rank() == 2 &&
                    labels.shape().dim(1) > 0;
  if (fits) return true;
  inputs.graph()->SetError(
      InvalidArgument(
          "sampled loss: expected weights [classes, size] and labels [batch, true classes], got ",
          weights.shape().ToString(), " and ", labels.shape().ToString()),
      at);
  return false;
}

}  // namespace

Output Nce(const Variable& weights, const Variable& biases, Output labels, Output inputs,
           const Sample& sample, const SampledOptions& options, At at) {
  if (!IsComplete(weights, biases, labels, inputs, sample, at)) return Output();
  NameScope scope(*inputs.graph(), options.name.empty() ? "nce_loss" : options.name);
  const Scored scored = Score(weights, biases, labels, inputs, sample,
                              options.remove_accidental_hits.value_or(false), at);
  const Output each =
      SigmoidCrossEntropyWithLogits(scored.labels, scored.logits, "sampled_losses", at);
  return ReduceSum(each, 1, {}, at);
}

Output SampledSoftmax(const Variable& weights, const Variable& biases, Output labels, Output inputs,
                      const Sample& sample, const SampledOptions& options, At at) {
  if (!IsComplete(weights, biases, labels, inputs, sample, at)) return Output();
  NameScope scope(*inputs.graph(), options.name.empty() ? "sampled_softmax_loss" : options.name);
  const Scored scored = Score(weights, biases, labels, inputs, sample,
                              options.remove_accidental_hits.value_or(true), at);
  const Output truth = StopGradient(scored.labels, {.name = "labels_stop_gradient"}, at);
  return SoftmaxCrossEntropyWithLogits(scored.logits, truth, {}, at).loss;
}

}  // namespace sluice::losses
