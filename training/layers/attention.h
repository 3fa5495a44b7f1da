// Attention layers: each position of a sequence reads from the positions of a memory, which is
// another sequence or the same one.
//
//   layers::MultiHeadAttention attention(8, {.causal = true}), cross(8);
//   Output y = attention(x);                        // x and y are [batch, n, width]
//   Output z = cross(x, encoded, padding_mask);     // reads from `encoded` [batch, m, size]
//
// Thread safety: that of the graph, which one thread at a time builds.
// Lifetime: as Layer: after its first call it belongs to one graph.
// Errors: stay in the graph, and the output is then invalid. INVALID_ARGUMENT if width, n or m is
// unknown, or if `heads` does not divide the width.
#ifndef SLUICE_TRAINING_LAYERS_ATTENTION_H_
#define SLUICE_TRAINING_LAYERS_ATTENTION_H_

#include <functional>
#include <string>
#include <vector>

#include "training/layers/dense.h"

namespace sluice::layers {

struct MultiHeadAttentionOptions {
  // Whether a position reads only itself and earlier positions (CausalMask).
  bool causal = false;
  bool use_bias = true;
  // Returns the initializer of a kernel. Called once for each projection, in the order query, key,
  // value, output.
  std::function<Initializer()> kernel_initializer = [] { return GlorotUniform(); };
  bool trainable = true;
  bool use_resource = true;
  std::string name = "attention";
};

// Multi-head attention (Vaswani et al. 2017). Projects `query` [batch, n, width] to queries q, and
// `memory` [batch, m, size] to keys k and values v. Splits them into `heads` parts along the width.
// A head computes softmax(q k^T / sqrt(width / heads)) v. The layer joins the heads' results and
// projects them once more: [batch, n, width].
//
// Variables: `<name>/query/kernel`, `…/key/…`, `…/value/…`, `…/output/…`.
class MultiHeadAttention : public Layer {
 public:
  explicit MultiHeadAttention(int64_t heads, MultiHeadAttentionOptions options = {});

  // If `mask` is valid, it is added to the scores [batch, heads, n, m], with broadcasting. It is 0
  // for allowed pairs and a large negative number for the others.
  Output operator()(Output query, Output memory, Output mask = {}, At at = At::current());
  // Self-attention: the memory is `x` itself.
  Output operator()(Output x, At at = At::current()) { return (*this)(x, x, {}, at); }

 private:
  Dense& Projection(int i, int64_t width, const char* name);
  Output Heads(Output x, int64_t depth, At at) const;

  int64_t heads_;
  MultiHeadAttentionOptions options_;
  std::vector<Dense> projections_;
};

// Returns an [n, m] mask by which a position reads only itself and earlier positions. Element (i,
// j) is 0 if j <= i, and a large negative number otherwise.
Output CausalMask(Graph& graph, int64_t n, int64_t m, DataType dtype = DT_FLOAT,
                  At at = At::current());

}  // namespace sluice::layers

#endif  // SLUICE_TRAINING_LAYERS_ATTENTION_H_
