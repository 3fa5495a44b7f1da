#include "ops/random/random_values.h"

#include <vector>

#include "graph/build/node_builder.h"
#include "ops/builders/constant.h"
#include "ops/builders/operand.h"

namespace sluice {
namespace {

constexpr int64_t kDefaultGraphSeed = 87654321;
constexpr int64_t kInt32Max = 2147483647;

// Adds a random op, and before it constants for its shape and for two parameters.
struct Draw {
  Output a, b, raw;
};
Draw MakeDraw(Graph& graph, std::string_view op, const TensorShape& shape, std::string_view a_name,
              double a, std::string_view b_name, double b, const RandomOptions& options, At at) {
  Draw draw;
  const std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  const Output shape_tensor = Constant(graph, IntegerTensor(dims), "shape", at);
  draw.a = Constant(graph, a, options.dtype, a_name, at);
  draw.b = Constant(graph, b, options.dtype, b_name, at);
  const auto [seed, seed2] = SeedsFor(graph, options.seed);
  draw.raw = NodeBuilder(&graph, op, at)
                 .Input(shape_tensor)
                 .Attr("dtype", options.dtype)
                 .Attr("seed", seed)
                 .Attr("seed2", seed2)
                 .Finish();
  return draw;
}

Output Sum(Graph& graph, const NameScope& scope, Output x, Output y, At at) {
  return NodeBuilder(&graph, "AddV2", at).Name(scope.prefix()).Input(x).Input(y).Finish();
}

// Adds an op for random integers. The bounds are inputs of the op.
Output WholeNumbers(Graph& graph, const NameScope& scope, const TensorShape& shape, double min,
                    double max, const RandomOptions& options, At at) {
  const std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  const Output size = Constant(graph, IntegerTensor(dims), "shape", at);
  const Output low = Constant(graph, min, options.dtype, "min", at);
  const Output high = Constant(graph, max, options.dtype, "max", at);
  const auto [seed, seed2] = SeedsFor(graph, options.seed);
  return NodeBuilder(&graph, "RandomUniformInt", at)
      .Name(scope.prefix())
      .Input(size)
      .Input(low)
      .Input(high)
      .Attr("seed", seed)
      .Attr("seed2", seed2)
      .Finish();
}

Output Normal(Graph& graph, std::string_view op, std::string_view name, const TensorShape& shape,
              double mean, double stddev, const RandomOptions& options, At at) {
  NameScope scope(graph, options.name.empty() ? name : options.name);
  const Draw draw = MakeDraw(graph, op, shape, "mean", mean, "stddev", stddev, options, at);
  return Sum(graph, scope, Operand(draw.raw, at) * draw.b, draw.a, at);
}

}  // namespace

std::pair<int64_t, int64_t> SeedsFor(Graph& graph, std::optional<int64_t> op_seed) {
  if (!graph.has_random_seed() && !op_seed) return {0, 0};
  const int64_t seed = graph.has_random_seed() ? graph.random_seed() : kDefaultGraphSeed;
  const int64_t seed2 = op_seed ? *op_seed : graph.NextOpSeed();
  // Avoids the seeds (0, 0), which would request nondeterministic numbers.
  if (seed == 0 && seed2 == 0) return {0, kInt32Max};
  return {seed, seed2};
}

Output RandomUniform(Graph& graph, const TensorShape& shape, double min, double max,
                     const RandomOptions& options, At at) {
  NameScope scope(graph, options.name.empty() ? "random_uniform" : options.name);
  if (IsInteger(options.dtype)) return WholeNumbers(graph, scope, shape, min, max, options, at);
  const Draw draw = MakeDraw(graph, "RandomUniform", shape, "min", min, "max", max, options, at);
  const Output width = Operand(draw.b, at) - draw.a;
  return Sum(graph, scope, Operand(draw.raw, at) * width, draw.a, at);
}

Output RandomNormal(Graph& graph, const TensorShape& shape, double mean, double stddev,
                    const RandomOptions& options, At at) {
  return Normal(graph, "RandomStandardNormal", "random_normal", shape, mean, stddev, options, at);
}

Output TruncatedNormal(Graph& graph, const TensorShape& shape, double mean, double stddev,
                       const RandomOptions& options, At at) {
  return Normal(graph, "TruncatedNormal", "truncated_normal", shape, mean, stddev, options, at);
}

}  // namespace sluice
