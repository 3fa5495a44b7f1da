#include "training/layers/dense.h"

#include <algorithm>
#include <vector>

#include "ops/array/builders.h"
#include "ops/array/shaping.h"
#include "ops/builders/number_ops.h"
#include "ops/indexing/builders.h"
#include "ops/indexing/subscript.h"
#include "ops/math/builders.h"
#include "ops/matmul/builders.h"
#include "ops/random/builders.h"
#include "ops/random/random_values.h"

namespace sluice::layers {
namespace {

// Returns the shape of `x` with `units` as the last size. It is a Const if it is known, and
// otherwise computed during the step.
Output WithLastDim(Output x, int64_t units, At at) {
  Graph& g = *x.graph();
  const int rank = x.shape().rank();
  std::vector<int64_t> dims;
  for (int i = 0; i + 1 < rank; ++i) dims.push_back(x.shape().dim(i));
  dims.push_back(units);
  // One size may be unknown, because Reshape infers it from the others.
  if (std::count(dims.begin(), dims.end(), -1) <= 1) {
    return Constant(g, IntegerTensor(dims), "shape", at);
  }
  const Output outer = Slice(ShapeOf(x, {}, at), {0}, {rank - 1}, {}, at);
  return Concat({outer, Constant(g, IntegerTensor({units}), {}, at)}, 0, {}, at);
}

// Returns x * kernel, summed over the last dimension. The names of the nodes are those of
// tf.tensordot.
Output Product(Output x, const Variable& kernel, At at) {
  if (x.shape().rank() == 2) return MatMulWith(x, kernel, at);
  return WithRead("Tensordot", kernel, at, [&](Output value, std::string_view name) {
    const int64_t inputs = kernel.shape().dim(0);
    int64_t rows = 1;
    for (int i = 0; i + 1 < x.shape().rank(); ++i) {
      rows = rows < 0 || x.shape().dim(i) < 0 ? -1 : rows * x.shape().dim(i);
    }
    const Output flat = Reshape(x, {rows, inputs}, {}, at);
    const Output product = MatMul(flat, value, {}, at);
    return Reshape(product, WithLastDim(x, kernel.shape().dim(1), at), {.name = name}, at);
  });
}

}  // namespace

Dense::Dense(int64_t units, DenseOptions options)
    : Layer(options.name, options.use_resource, options.trainable),
      units_(units),
      options_(std::move(options)) {}

void Dense::Build(Graph& graph, int64_t size, DataType dtype, At at) {
  if (kernel_) return;
  Call call(*this, graph);
  MakeKernelAndBias(graph, dtype, {size, units_}, units_, options_, at, &kernel_, &bias_);
}

Output Dense::operator()(Output x, At at) {
  const std::optional<int64_t> size = KnownDim(x, 2, -1, at);
  if (!size) return Output();
  Build(*x.graph(), *size, x.dtype(), at);
  Call call(*this, *x.graph());
  Output y = Product(x, kernel_, at);
  if (options_.use_bias) y = BiasAddWith(y, bias_, at);
  return options_.activation(y);
}

Embedding::Embedding(int64_t count, int64_t size, EmbeddingOptions options)
    : Layer(options.name, options.use_resource, options.trainable),
      shape_({count, size}),
      options_(std::move(options)) {}

void Embedding::Build(Graph& graph, At at) {
  if (embeddings_) return;
  Call call(*this, graph);
  embeddings_ = MakeVariable(
      graph, DT_FLOAT, {"embeddings", shape_, options_.initializer, options_.regularizer}, at);
}

Output Embedding::operator()(Output ids, At at) {
  if (!ids) return Output();
  Build(*ids.graph(), at);
  Call call(*this, *ids.graph());
  return Gather(embeddings_, ids, "embedding_lookup", at);
}

Output Dropout(Output x, float rate, const DropoutOptions& options, At at) {
  if (!x) return Output();
  Graph& g = *x.graph();
  NameScope layer(g, options.name);
  if (!options.training) return Identity(x, {}, at);
  NameScope scope(g, "dropout");
  const DataType dtype = BaseType(x.dtype());
  const Output scale = Constant(g, Number(1 / (1 - static_cast<double>(rate))), dtype, {}, at);
  const Output scaled = Mul(x, scale, {}, at);
  const Output shape = ShapeOf(x, {}, at);
  Output draw;
  {
    NameScope random(g, "random_uniform");
    const auto [seed, seed2] = SeedsFor(g, options.seed);
    draw = RandomUniform(shape, dtype, {.seed = seed, .seed2 = seed2}, at);
  }
  const Output keep = GreaterEqual(Operand(draw, at), Operand(rate, at));
  const Output zero = Constant(g, Number(0), dtype, {}, at);
  return SelectV2(keep, scaled, zero, {}, at);
}

Output Flatten(Output x, std::string_view name, At at) {
  if (!x) return Output();
  Graph& g = *x.graph();
  NameScope scope(g, name);
  const PartialShape& shape = x.shape();
  int64_t rest = shape.rank_known() ? 1 : -1;
  for (int i = 1; shape.rank_known() && i < shape.rank(); ++i) {
    rest = rest < 0 || shape.dim(i) < 0 ? -1 : rest * shape.dim(i);
  }
  const int64_t batch = shape.rank_known() && shape.rank() > 0 ? shape.dim(0) : -1;
  if (rest >= 0) return Reshape(x, Constant(g, IntegerTensor({-1, rest}), {}, at), {}, at);
  if (batch >= 0) return Reshape(x, Constant(g, IntegerTensor({batch, -1}), {}, at), {}, at);
  const Output rows = ElementAt(Shape(x, {}, at), 0, "strided_slice", at);
  const Output others = Constant(g, int32_t{-1}, {}, at);
  return Reshape(x, Stack({rows, others}, 0, {}, at), {}, at);
}

}  // namespace sluice::layers
