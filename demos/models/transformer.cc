// A transformer over characters.
#include <cmath>

#include "demos/models/data.h"
#include "demos/models/model.h"
#include "graph/status.h"
#include "training/layers/attention.h"
#include "training/layers/dense.h"
#include "training/layers/normalization.h"

namespace sluice::demos {
namespace {

// Hendrycks and Gimpel (2016): x times the probability that a normal variable is smaller than x.
Output Gelu(Output x) { return 0.5f * x * (1.0f + Erf(x * static_cast<float>(M_SQRT1_2))); }
// Approximation with tanh.
Output GeluByTanh(Output x) {
  const Output cubed = x + 0.044715f * (x * x * x);
  return 0.5f * x * (1.0f + Tanh(0.7978845608028654f * cubed));
}

}  // namespace

// A decoder with two layers (Vaswani et al. 2017; Radford et al. 2018) and learning-rate warm-up.
absl::StatusOr<Model> Transformer(Graph& g) {
  constexpr int64_t kBatch = 4, kLength = 16, kWidth = 16, kHeads = 4;
  SLUICE_ASSIGN_OR_RETURN(const std::vector<int32_t> text, LicenceCharacters());
  Seeds seeds;
  const Output ids = Placeholder(g, DT_INT32, {kBatch, kLength}, "ids");
  const Output next = Placeholder(g, DT_INT32, {kBatch, kLength}, "next_ids");
  Variable table(g, "embedding", {kCharacters, kWidth}, seeds.Normal(0.1));
  Variable places(g, "positions", {kLength, kWidth}, seeds.Normal(0.1));
  Output net = Gather(table, ids) * std::sqrt(static_cast<float>(kWidth)) + places;
  for (int i = 0; i < 2; ++i) {
    NameScope scope(g, StrCat("layer_", i));
    layers::MultiHeadAttention attention(
        kHeads, {.causal = true, .kernel_initializer = [&] { return seeds.Glorot(); }});
    net = net + attention(layers::LayerNormalization({.name = "norm1"})(net));
    const Output normal = layers::LayerNormalization({.name = "norm2"})(net);
    Output hidden =
        layers::Dense(32, {.kernel_initializer = seeds.Glorot(), .name = "hidden"})(normal);
    hidden = i == 0 ? GeluByTanh(hidden) : Gelu(hidden);
    hidden = layers::Dropout(hidden, 0.1f, {.seed = seeds.Next()});
    net = net +
          layers::Dense(kWidth, {.kernel_initializer = seeds.Glorot(), .name = "narrow"})(hidden);
  }
  // The scores of characters are dot products with their embeddings.
  const Output rows = Reshape(layers::LayerNormalization({.name = "norm"})(net), {-1, kWidth});
  const Output logits = MatMul(rows, table, {.transpose_b = true});
  const Output cross = SparseSoftmaxCrossEntropyWithLogits(logits, Reshape(next, {-1})).loss;
  const Output loss = ReduceMean(cross);
  Variable step = GlobalStep(g);
  const Output count = Cast(step + 1, DT_FLOAT);
  const Output rate = 0.05f * Minimum(Rsqrt(count), count * static_cast<float>(std::pow(20, -1.5)));
  const Operation train = Adam({.learning_rate = rate, .beta2 = 0.98f, .epsilon = 1e-9f})
                              .Minimize(loss, {.global_step = &step});
  if (!g.status().ok()) return g.status();
  return Model{{loss}, train, [=](int64_t i) -> Batch {
                 const Tensor pieces = Pieces(text, i, kBatch, kLength + 1);
                 Tensor now(DT_INT32, {kBatch, kLength}), then(DT_INT32, {kBatch, kLength});
                 for (int64_t b = 0; b < kBatch; ++b) {
                   const int32_t* piece = pieces.data<int32_t>() + b * (kLength + 1);
                   std::copy_n(piece, kLength, now.data<int32_t>() + b * kLength);
                   std::copy_n(piece + 1, kLength, then.data<int32_t>() + b * kLength);
                 }
                 return {{ids, now}, {next, then}};
               }};
}

}  // namespace sluice::demos
