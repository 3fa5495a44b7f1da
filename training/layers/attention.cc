#include "training/layers/attention.h"

#include <cmath>

#include "graph/status.h"
#include "ops/array/shaping.h"
#include "ops/builders/operand.h"
#include "ops/linalg/builders.h"
#include "ops/matmul/builders.h"
#include "ops/nn/builders.h"

namespace sluice::layers {
namespace {

// Subtracted from the scores of positions that may not be read. It is far larger than any score,
// but finite, so that a row without allowed positions has no NaN.
constexpr float kNever = 1e9f;

}  // namespace

MultiHeadAttention::MultiHeadAttention(int64_t heads, MultiHeadAttentionOptions options)
    : Layer(options.name, options.use_resource, options.trainable),
      heads_(heads),
      options_(std::move(options)) {}

// Returns projection `i`. The first calls must come in the order of `i`, because each of them
// requests an initializer.
Dense& MultiHeadAttention::Projection(int i, int64_t width, const char* name) {
  if (static_cast<int>(projections_.size()) <= i) {
    projections_.emplace_back(width,
                              DenseOptions{.use_bias = options_.use_bias,
                                           .kernel_initializer = options_.kernel_initializer(),
                                           .trainable = options_.trainable,
                                           .use_resource = options_.use_resource,
                                           .name = name});
  }
  return projections_[i];
}

// Converts [batch, n, heads * depth] to [batch, heads, n, depth].
Output MultiHeadAttention::Heads(Output x, int64_t depth, At at) const {
  const int64_t length = x.shape().rank_known() ? x.shape().dim(1) : -1;
  const Output parts = Reshape(x, {length < 0 ? 0 : -1, length, heads_, depth}, {}, at);
  return Transpose(parts, {0, 2, 1, 3}, {}, at);
}

Output MultiHeadAttention::operator()(Output query, Output memory, Output mask, At at) {
  const std::optional<int64_t> width = KnownDim(query, 3, -1, at);
  const std::optional<int64_t> n = KnownDim(query, 3, 1, at), m = KnownDim(memory, 3, 1, at);
  if (!width || !n || !m) return Output();
  Graph& g = *query.graph();
  if (heads_ <= 0 || *width % heads_ != 0) {
    SetError(g, InvalidArgument("expected a width that ", heads_, " heads divide, got ", *width),
             at);
    return Output();
  }
  const int64_t depth = *width / heads_;
  Call call(*this, g);
  const Output q = Heads(Projection(0, *width, "query")(query, at), depth, at);
  const Output k = Heads(Projection(1, *width, "key")(memory, at), depth, at);
  const Output v = Heads(Projection(2, *width, "value")(memory, at), depth, at);
  const Output scaled = q * static_cast<float>(1 / std::sqrt(static_cast<double>(depth)));
  Output scores = BatchMatMulV2(scaled, k, {.adj_y = true}, at);
  if (options_.causal && scores) scores = scores + CausalMask(g, *n, *m, BaseType(q.dtype()), at);
  if (mask) scores = scores + mask;
  const Output read = BatchMatMulV2(Softmax(scores, {}, at), v, {}, at);
  const Output joined = Reshape(Transpose(read, {0, 2, 1, 3}, {}, at), {-1, *n, *width}, {}, at);
  return Projection(3, *width, "output")(joined, at);
}

Output CausalMask(Graph& graph, int64_t n, int64_t m, DataType dtype, At at) {
  NameScope scope(graph, "causal_mask");
  const Output ones = Ones(graph, {n, m}, dtype, "ones", at);
  const Output below = Constant(graph, int64_t{-1}, "lower", at);
  const Output allowed =
      MatrixBandPart(ones, below, Constant(graph, int64_t{0}, "upper", at), {}, at);
  return (allowed - 1.0f) * kNever;
}

}  // namespace sluice::layers
