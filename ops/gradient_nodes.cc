#include "ops/gradient_nodes.h"

#include <algorithm>
#include <optional>

#include "graph/build/node_builder.h"
#include "graph/infer/shape_context.h"
#include "ops/array/fill_builders.h"
#include "ops/array/reshape_builders.h"
#include "ops/array/shape_builders.h"
#include "ops/indexing/partition_builders.h"
#include "ops/math/cast_builders.h"
#include "ops/math/complex_builders.h"
#include "ops/reduce/reduce_builders.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

struct ReductionAxes {
  std::vector<int64_t> x;
  std::vector<int64_t> y;
};

// Returns the axes along which x and y were broadcast, or nothing if they depend on sizes that are
// known only during a step. As in TensorFlow, a size of 1 beside an unknown size counts as
// broadcast.
std::optional<ReductionAxes> StaticReductionAxes(const PartialShape& x, const PartialShape& y) {
  if (!x.rank_known() || !y.rank_known()) return std::nullopt;
  const int rank = std::max(x.rank(), y.rank());
  ReductionAxes axes;
  for (int i = 0; i < rank; ++i) {
    const int xi = i - (rank - x.rank());
    const int yi = i - (rank - y.rank());
    const int64_t x_size = xi < 0 ? 1 : x.dim(xi);
    const int64_t y_size = yi < 0 ? 1 : y.dim(yi);
    if (x_size == 1 && y_size != 1) {
      axes.x.push_back(i);
    } else if (y_size == 1 && x_size != 1) {
      axes.y.push_back(i);
    } else if (x_size < 0 || y_size < 0) {
      return std::nullopt;
    }
  }
  return axes;
}

Output SumToShape(Output grad, Output axes, Output shape) {
  return Reshape(Sum(grad, axes, {.keep_dims = true}), shape);
}

}  // namespace

Output IntVector(Graph& graph, const std::vector<int64_t>& values, std::string_view name) {
  Tensor t(DT_INT32, TensorShape({static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) t.data<int32_t>()[i] = static_cast<int32_t>(values[i]);
  return Constant(graph, std::move(t), name);
}

Output NumberLike(Output x, double value, std::string_view name) {
  if (!x) return Output();
  return Constant(*x.graph(), Number(value), BaseType(x.dtype()), name);
}

Output ConjOf(Output x) { return x && IsComplex(x.dtype()) ? Conj(x) : x; }

GradientFunction ChainRule(Output (*derivative)(Backprop& b, Output grad)) {
  return [derivative](Backprop& b) {
    Output grad = b.Of(0);
    ControlDependencies after(b.graph(), {grad});
    b.Into(0, derivative(b, grad));
  };
}

GradientPair ReduceGradientArgs(Output x, Output y, Output gx, Output gy) {
  if (!x || !y || (!gx && !gy)) return {gx, gy};
  Output x_shape = ShapeOf(x);
  Output y_shape = ShapeOf(y);
  std::optional<ReductionAxes> known = StaticReductionAxes(x.shape(), y.shape());
  if (!known) {
    BroadcastGradientArgsOutputs axes = BroadcastGradientArgs(x_shape, y_shape);
    return {gx ? SumToShape(gx, axes.r0, x_shape) : gx, gy ? SumToShape(gy, axes.r1, y_shape) : gy};
  }
  Graph& graph = *x.graph();
  auto reduce = [&](Output grad, const std::vector<int64_t>& axes, bool lower_rank, Output shape) {
    if (!grad || (axes.empty() && !lower_rank)) return grad;
    return SumToShape(grad, IntVector(graph, axes, "Sum/reduction_indices"), shape);
  };
  return {reduce(gx, known->x, x.shape().rank() < y.shape().rank(), x_shape),
          reduce(gy, known->y, y.shape().rank() < x.shape().rank(), y_shape)};
}

void IntoBroadcast(Backprop& b, Output gx, Output gy) {
  GradientPair reduced = ReduceGradientArgs(b.In(0), b.In(1), gx, gy);
  if (reduced.x) b.Into(0, reduced.x);
  if (reduced.y) b.Into(1, reduced.y);
}

namespace {

// Returns the sizes, with 1 for each axis that is reduced.
std::vector<int64_t> KeptSizes(const Tensor& sizes, const Tensor& axes) {
  std::vector<int64_t> kept;
  for (int32_t size : sizes.flat<int32_t>()) kept.push_back(size);
  const int64_t rank = static_cast<int64_t>(kept.size());
  for (int64_t i = 0; i < axes.num_elements(); ++i) {
    int64_t axis = axes.dtype() == DT_INT32 ? axes.flat<int32_t>()[i] : axes.flat<int64_t>()[i];
    if (axis < 0) axis += rank;
    if (axis >= 0 && axis < rank) kept[axis] = 1;
  }
  return kept;
}

}  // namespace

Output ReducedShape(Output input_shape, Output axes) {
  if (!input_shape || !axes) return Output();
  Graph& graph = *input_shape.graph();
  std::optional<Tensor> sizes = ConstantValue(input_shape);
  std::optional<Tensor> axes_value = ConstantValue(axes);
  if (sizes && axes_value) {
    const std::vector<int64_t> kept = KeptSizes(*sizes, *axes_value);
    return IntVector(graph, kept, "Reshape/shape");
  }
  // Adds nodes that replace the sizes of the reduced axes by ones.
  Output axes32 = BaseType(axes.dtype()) == DT_INT32 ? axes : Cast(axes, DT_INT32);
  Output rank = SizeOf(input_shape);
  Output positive = (axes32 + rank) % rank;
  Output all = Range(rank);
  Output ones = Fill(ShapeOf(positive), Constant(graph, 1, "ones/Const"));
  return DynamicStitch({all, positive}, {input_shape, ones});
}

bool SameKnownShapes(Output x, Output y, Output grad) {
  return x.shape().IsFullyDefined() && x.shape() == y.shape() && x.shape() == grad.shape();
}

OutputList SiblingOutputs(Backprop& b, std::string_view op, const OutputList& inputs,
                          const AttrMap& attrs, At at) {
  const OpDef* def = OpRegistry::Global().Find(op);
  NodeBuilder builder(&b.graph(), op, at);
  for (const Output& input : inputs) builder.Input(input);
  for (const AttrDef& attr : def == nullptr ? std::vector<AttrDef>() : def->attrs) {
    const bool is_inferred = std::any_of(def->inputs.begin(), def->inputs.end(),
                                         [&](const ArgDef& a) { return a.type_attr == attr.name; });
    const auto value = b.op().attrs().find(attr.name);
    if (!is_inferred && value != b.op().attrs().end()) builder.Attr(attr.name, value->second);
  }
  for (const auto& [name, value] : attrs) builder.Attr(name, value);
  Node* node = builder.Finish();
  OutputList outputs(def == nullptr ? 1 : def->outputs.size());
  for (size_t i = 0; node != nullptr && i < outputs.size(); ++i) {
    outputs[i] = Output(node, static_cast<int>(i));
  }
  return outputs;
}

Output Sibling(Backprop& b, std::string_view op, const OutputList& inputs, At at) {
  return SiblingOutputs(b, op, inputs, {}, at)[0];
}

}  // namespace sluice
