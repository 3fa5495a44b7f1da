#include "training/gradient/clip.h"

#include <algorithm>

#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/array/fill_builders.h"
#include "ops/array/identity_builders.h"
#include "ops/array/shape_builders.h"
#include "ops/builders/number_ops.h"
#include "ops/math/arithmetic_builders.h"
#include "ops/math/cast_builders.h"
#include "ops/math/compare_builders.h"
#include "ops/math/power_builders.h"
#include "ops/math/select_builders.h"
#include "ops/nn/softmax_builders.h"
#include "ops/reduce/reduce_builders.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

std::string_view NameOr(std::string_view name, std::string_view otherwise) {
  return name.empty() ? otherwise : name;
}

// Adds the nodes of tf.ones_like in graphs of TensorFlow 1.
Output Ones(Output like) {
  Graph& graph = *like.graph();
  NameScope scope(graph, "ones_like");
  Output shape;
  if (like.shape().IsFullyDefined()) {
    const TensorShape dims = like.shape().AsShape();
    NameScope inner(graph, "Shape");
    shape =
        Constant(graph, IntegerTensor({dims.dims().begin(), dims.dims().end()}), "shape_as_tensor");
  } else {
    shape = Shape(like);
  }
  const Output one = Constant(graph, 1, BaseType(like.dtype()));
  return Fill(shape, one, {.name = scope.prefix()});
}

}  // namespace

Grad ClipByValue(const Grad& grad, const Operand& min, const Operand& max, std::string_view name) {
  const Output values = ValuesOf(grad);
  if (!values) return grad;
  NameScope scope(*values.graph(), NameOr(name, "clip_by_value"));
  const Output below = Minimum(values, max);
  return WithValues(grad, Maximum(below, min, scope.prefix()));
}

Grad ClipByNorm(const Grad& grad, float clip_norm, const Axes& axes, std::string_view name) {
  const Output values = ValuesOf(grad);
  if (!values) return grad;
  NameScope scope(*values.graph(), NameOr(name, "clip_by_norm"));
  clip_norm = std::max(clip_norm, 0.0f);
  const Output sum = ReduceSum(values * values, axes, {.keep_dims = true});
  // The square root has no gradient at 0. So if the sum is 0, it is used instead of its root.
  const Output is_positive = Greater(sum, 0);
  const Output safe = Select(is_positive, sum, Ones(sum));
  const Output norm = Select(is_positive, Sqrt(safe), sum);
  const Output scaled = values * clip_norm;
  const Output larger = Maximum(norm, clip_norm);
  return WithValues(grad, Identity(scaled / larger, {.name = scope.prefix()}));
}

Output ClipByAverageNorm(Output grad, float clip_norm, std::string_view name) {
  if (!grad) return grad;
  Graph& graph = *grad.graph();
  NameScope scope(graph, NameOr(name, "clip_by_average_norm"));
  const Output count = Cast(SizeOf(grad), DT_FLOAT);
  const Output squares = grad * grad;
  const Output axes = Range(RankOf(grad));
  const Output inverse = Rsqrt(Sum(squares, axes));
  const Output scaled = grad * clip_norm;
  const Output average = inverse * count;
  const Output limit = Constant(graph, 1.0f) / clip_norm;
  const Output factor = Minimum(average, limit);
  return Identity(scaled * factor, {.name = scope.prefix()});
}

Output GlobalNorm(const std::vector<Grad>& grads, std::string_view name) {
  OutputList values;
  for (const Grad& g : grads) {
    if (!g.is_none()) values.push_back(ValuesOf(g));
  }
  if (values.empty()) return {};
  Graph& graph = *values[0].graph();
  NameScope scope(graph, NameOr(name, "global_norm"));
  OutputList halves;
  for (const Output& v : values) {
    ColocateWith with(graph, v);
    halves.push_back(L2Loss(v));
  }
  const Output half = ReduceSum(Stack(halves));
  const Output two = Constant(graph, 2, BaseType(half.dtype()));
  return Sqrt(half * two, {.name = "global_norm"});
}

ClippedGradients ClipByGlobalNorm(const std::vector<Grad>& grads, const Operand& clip_norm,
                                  Output use_norm, std::string_view name) {
  if (!use_norm) use_norm = GlobalNorm(grads, name);
  if (!use_norm) return {grads, use_norm};
  Graph& graph = *use_norm.graph();
  NameScope scope(graph, NameOr(name, "clip_by_global_norm"));
  const Output inverse = 1 / use_norm;
  const Output limit = Constant(graph, 1, BaseType(use_norm.dtype())) / clip_norm;
  const Output finite = clip_norm * Minimum(inverse, limit);
  // Adds NaN if the norm is not finite, and 0 otherwise.
  const Output nan_or_zero = use_norm - use_norm;
  const Output scale = finite + nan_or_zero;
  ClippedGradients clipped{grads, use_norm};
  for (size_t i = 0; i < grads.size(); ++i) {
    const Output values = ValuesOf(grads[i]);
    if (!values) continue;
    ColocateWith with(graph, values);
    const Output factor = CastTo(scale, BaseType(values.dtype()));
    const Output scaled = Identity(values * factor, {.name = StrCat(scope.prefix(), "_", i)});
    clipped.grads[i] = WithValues(grads[i], scaled);
  }
  return clipped;
}

Output ClipByGlobalNorm(GradientsAndVariables& pairs, const Operand& clip_norm) {
  std::vector<Grad> grads;
  for (const GradientAndVariable& pair : pairs) grads.push_back(pair.grad);
  ClippedGradients clipped = ClipByGlobalNorm(grads, clip_norm);
  for (size_t i = 0; i < pairs.size(); ++i) pairs[i].grad = clipped.grads[i];
  return clipped.global_norm;
}

}  // namespace sluice
