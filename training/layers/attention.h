// Attention: what each place reads from the places of a memory.
#ifndef SLUICE_TRAINING_LAYERS_ATTENTION_H_
#define SLUICE_TRAINING_LAYERS_ATTENTION_H_

#include <functional>
#include <string>
#include <vector>

#include "training/layers/dense.h"

namespace sluice::layers {

struct MultiHeadAttentionOptions {
  bool causal = false;  // a place reads itself and those before it
  bool use_bias = true;
  // Of the projections, asked for in the order query, key, value, output.
  std::function<Initializer()> kernel_initializer = [] { return GlorotUniform(); };
  bool trainable = true;
  bool use_resource = true;
  std::string name = "attention";
};

// Vaswani et al. (2017): queries, keys and values are projections of `query` [batch, n, width] and
// `memory` [batch, m, size], in `heads` parts of the width; what the heads read is joined and
// projected once more. Variables: `<name>/query/kernel`, `…/key/…`, `…/value/…`, `…/output/…`.
class MultiHeadAttention : public Layer {
 public:
  explicit MultiHeadAttention(int64_t heads, MultiHeadAttentionOptions options = {});

  // `mask`, if valid, is added to the scores [batch, heads, n, m] (0, or a large negative number
  // where nothing is to be read); it may be broadcast.
  Output operator()(Output query, Output memory, Output mask = {}, At at = At::current());
  // Of `x` with itself.
  Output operator()(Output x, At at = At::current()) { return (*this)(x, x, {}, at); }

 private:
  Dense& Projection(int i, int64_t width, const char* name);
  Output Heads(Output x, int64_t depth, At at) const;

  int64_t heads_;
  MultiHeadAttentionOptions options_;
  std::vector<Dense> projections_;
};

// [n, m]: 0 where a place may read (itself and those before it), else a large negative number.
Output CausalMask(Graph& graph, int64_t n, int64_t m, DataType dtype = DT_FLOAT,
                  At at = At::current());

}  // namespace sluice::layers

#endif  // SLUICE_TRAINING_LAYERS_ATTENTION_H_
