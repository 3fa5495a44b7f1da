// Concatenates tensors along a dimension, and stacks them along a new one.
#include <algorithm>

#include "graph/infer/constant_context.h"
#include "graph/infer/image_roles.h"
#include "graph/ir/constant.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "graph/build/scopes.h"
#include "ops/array/split_builders.h"
#endif

namespace sluice {
namespace {

// Returns an unknown shape with the first known rank of inputs [first, last).
PartialShape CommonRank(const ShapeContext& c, int first, int last) {
  for (int i = first; i < last; ++i) {
    if (c.input(i).rank_known()) return PartialShape::UnknownOfRank(c.input(i).rank());
  }
  return PartialShape();
}

// Returns the shape of the concatenation of inputs [first, last) along `axis`. `any` is an unknown
// shape with their rank, which stands for inputs of unknown rank.
absl::StatusOr<PartialShape> Joined(const ShapeContext& c, int first, int last,
                                    const PartialShape& any, int axis) {
  PartialShape merged = any;
  int64_t total = 0;
  for (int i = first; i < last; ++i) {
    PartialShape shape = c.input(i).rank_known() ? c.input(i) : any;
    if (total < 0 || shape.dim(axis) < 0) {
      total = -1;
    } else if (__builtin_add_overflow(total, shape.dim(axis), &total)) {
      return InvalidArgument("the result is too large along axis ", axis);
    }
    shape.set_dim(axis, PartialShape::kUnknown);
    SLUICE_ASSIGN_OR_RETURN(merged, merged.MergeWith(shape));
  }
  merged.set_dim(axis, total);
  return merged;
}

// Checks that all inputs have the rank of `merged`, and that `axis` is one of its dimensions.
absl::Status CheckRanks(ShapeContext& c, int first, int last, const PartialShape& merged,
                        int64_t axis) {
  for (int i = first; i < last; ++i) {
    SLUICE_RETURN_IF_ERROR(c.WithRank(i, merged.rank()).status());
    const int64_t least = axis < 0 ? -axis : axis + 1;
    SLUICE_INVALID_IF(merged.rank() == 0, "Can't concatenate scalars (use tf.stack instead)");
    SLUICE_INVALID_IF(merged.rank() < least, "Shape must be at least rank ", least, " but is rank ",
                      merged.rank());
  }
  return absl::OkStatus();
}

// Sets output 0 to the shape of inputs [first, last), joined along the axis in input `axis_input`.
absl::Status ConcatShapeOf(ShapeContext& c, int first, int last, int axis_input) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(axis_input, 0).status());
  const std::optional<std::vector<int64_t>> given = c.InputInts(axis_input);
  const bool axis_known = c.InputValue(axis_input).has_value() && given && given->size() == 1;
  const PartialShape merged = CommonRank(c, first, last);
  if (!merged.rank_known()) return c.SetOutput(0, PartialShape());
  constexpr int64_t kAboveAnyRank = 1 << 20;
  const int64_t axis = axis_known ? std::clamp((*given)[0], -kAboveAnyRank, kAboveAnyRank) : 0;
  SLUICE_RETURN_IF_ERROR(CheckRanks(c, first, last, merged, axis));
  if (!axis_known) return c.SetOutput(0, PartialShape::UnknownOfRank(merged.rank()));
  const int d = static_cast<int>(axis < 0 ? axis + merged.rank() : axis);
  SLUICE_ASSIGN_OR_RETURN(PartialShape joined, Joined(c, first, last, merged, d));
  return c.SetOutput(0, std::move(joined));
}

absl::Status ConcatShape(ShapeContext& c) { return ConcatShapeOf(c, 1, c.num_inputs(), 0); }
absl::Status ConcatV2Shape(ShapeContext& c) {
  return ConcatShapeOf(c, 0, c.num_inputs() - 1, c.num_inputs() - 1);
}

absl::Status PackShape(ShapeContext& c) {
  PartialShape merged;
  for (int i = 0; i < c.num_inputs(); ++i) {
    SLUICE_ASSIGN_OR_RETURN(merged, merged.MergeWith(c.input(i)));
  }
  if (!merged.rank_known()) return c.SetOutput(0, PartialShape());
  SLUICE_ASSIGN_OR_RETURN(const int axis,
                          CanonicalAxis(c.attr<int64_t>("axis"), merged.rank() + 1));
  PartialShape out = PartialShape::Scalar();
  for (int i = 0; i <= merged.rank(); ++i) {
    if (i == axis) out.AddDim(c.num_inputs());
    if (i < merged.rank()) out.AddDim(merged.dim(i));
  }
  return c.SetOutput(0, std::move(out));
}

// Attribute `shape` is the shape of the output. Each input is one row of it.
absl::Status ParallelConcatShape(ShapeContext& c) {
  const PartialShape& shape = c.attr<PartialShape>("shape");
  PartialShape row = shape;
  SLUICE_INVALID_IF(!shape.IsFullyDefined(), "shape attr must be fully defined");
  SLUICE_INVALID_IF(shape.rank() == 0, "shape attr must have at least one dimension");
  row.set_dim(0, 1);
  for (int i = 0; i < c.num_inputs(); ++i) {
    SLUICE_INVALID_IF(c.input(i).rank() > 0 && c.input(i).dim(0) > 1,
                      "Size of first dimension must be 1, got shape ", c.input(i).ToString());
    SLUICE_RETURN_IF_ERROR(row.MergeWith(c.input(i)).status());
  }
  return c.SetOutput(0, shape);
}

#ifndef SLUICE_DEFINITIONS_ONLY

// Splits a dense gradient into the parts of the inputs.
void SplitDense(Backprop& b, int first, const OutputList& values, Output axis) {
  Graph& g = b.graph();
  OutputList shapes;
  bool all_known = true;
  for (const Output& v : values) all_known &= v.shape().IsFullyDefined();
  if (all_known) {
    for (const Output& v : values) shapes.push_back(ShapeNode(v));
  } else {
    shapes = ShapeN(values);
  }
  OutputList grads;
  // As in TensorFlow, one SplitV replaces more than 16 slices.
  if (values.size() > 16) {
    Output sizes = Squeeze(
        Slice(Pack(shapes, {.axis = 1}), Pack({axis, IndexScalar(g, 0)}), IndexVector(g, {1, -1})));
    grads = SplitV(b.Of(0), sizes, axis, static_cast<int64_t>(values.size()));
  } else {
    const OutputList begins = ConcatOffset(axis, shapes);
    for (size_t i = 0; i < begins.size(); ++i) {
      grads.push_back(Slice(b.Of(0), begins[i], shapes[i]));
    }
  }
  for (size_t i = 0; i < grads.size(); ++i) b.Into(first + static_cast<int>(i), grads[i]);
}

// Splits IndexedSlices for a concatenation along dimension 0: each row belongs to one input.
void SplitRowsOfSlices(Backprop& b, int first, const OutputList& values, Output axis) {
  const IndexedSlices grad = b.GradOf(0).slices();
  const DataType type = BaseType(grad.indices.dtype());
  Graph& g = b.graph();
  Output start = IndexScalar(g, 0, type);
  for (size_t i = 0; i < values.size(); ++i) {
    Output shape = ShapeNode(values[i]);
    Output rows = GatherV2(shape, axis, IndexScalar(g, 0));
    if (BaseType(rows.dtype()) != type) rows = Cast(rows, type);
    Output end = AddV2(start, rows);
    Output chosen =
        Squeeze(Where(LogicalAnd(GreaterEqual(grad.indices, start), Less(grad.indices, end))),
                {.squeeze_dims = {1}});
    Output zero = IndexScalar(g, 0);
    b.Into(first + static_cast<int>(i),
           IndexedSlices{GatherV2(grad.values, chosen, zero),
                         Sub(GatherV2(grad.indices, chosen, zero), start), shape});
    start = end;
  }
}

// Splits IndexedSlices for a concatenation along another dimension: each input gets a part of each
// row.
void SplitWithinSlices(Backprop& b, int first, const OutputList& values, int64_t axis) {
  const IndexedSlices grad = b.GradOf(0).slices();
  Graph& g = b.graph();
  const int rank = values[0].shape().rank();
  std::vector<int64_t> mask(rank, 0), zeros(rank, 0);
  mask[axis] = 1;
  Output begin = IndexVector(g, zeros);
  for (size_t i = 0; i < values.size(); ++i) {
    Output shape = ShapeNode(values[i]);
    Output size = ConcatV2({IndexVector(g, {-1}), PartOf(shape, 1, kToTheEnd)}, IndexScalar(g, 0));
    b.Into(first + static_cast<int>(i),
           IndexedSlices{Slice(grad.values, begin, size), grad.indices, shape});
    begin = AddV2(begin, Mul(shape, IndexVector(g, mask)));
  }
}

void ConcatGradient(Backprop& b, std::string_view axis_arg) {
  const OutputList values = b.Values("values");
  const int first = axis_arg == "axis" ? 0 : 1;
  if (values.size() == 1) return b.Into(first, b.GradOf(0));
  Graph& g = b.graph();
  Output axis = b.Value(axis_arg);
  const std::optional<Tensor> constant = ConstantValue(axis);
  // Copies a constant from another cond or while context to this one.
  if (constant && axis.node->context() != g.scopes().context) {
    axis = Const(g, *constant, BaseType(axis.dtype()));
  }
  if (BaseType(axis.dtype()) != DT_INT32) axis = Cast(axis, DT_INT32);
  Output from_start = FloorMod(axis, RankNode(values[0]));
  if (!b.GradOf(0).is_slices()) return SplitDense(b, first, values, from_start);
  const int rank = values[0].shape().rank();
  if (!constant || rank < 0) {
    return b.Fail(absl::InvalidArgumentError(
        "Can only compute IndexedSlices gradient with statically-known concat_dim"));
  }
  const int64_t at =
      constant->dtype() == DT_INT64 ? constant->scalar<int64_t>() : constant->scalar<int32_t>();
  if (at == 0 || at == -rank) return SplitRowsOfSlices(b, first, values, from_start);
  SplitWithinSlices(b, first, values, at < 0 ? at + rank : at);
}

#endif  // SLUICE_DEFINITIONS_ONLY

std::optional<PartialInts> ValueOfConcatV2(ConstantContext& c) {
  PartialInts out;
  for (int i = 0; i + 1 < c.node().num_inputs(); ++i) {
    if (c.input_shape(i).rank() != 1) return std::nullopt;
    std::optional<PartialInts> part = c.Input(i);
    if (!part) {
      const int64_t size = c.input_shape(i).dim(0);
      if (size < 0 || size > ConstantContext::kMaxElements) return std::nullopt;
      part = PartialInts::Unknown(size);
    }
    out.values.insert(out.values.end(), part->values.begin(), part->values.end());
    if (out.values.size() > ConstantContext::kMaxElements) return std::nullopt;
  }
  return out;
}

std::optional<PartialInts> ValueOfPack(ConstantContext& c) {
  PartialInts out;
  for (int i = 0; i < c.node().num_inputs(); ++i) {
    if (c.input_shape(i).rank() != 0) return std::nullopt;
    out.values.push_back(c.Element(i));
  }
  return out;
}

bool AreEqualExcept(int64_t along, const PartialShape& a, const PartialShape& b) {
  for (int d = 1; d < 4; ++d) {
    if (d != along && a.dim(d) != b.dim(d)) return false;
  }
  return true;
}

std::optional<ImageRoles> ImagesOfConcatV2(const Node& node) {
  const int operand = node.num_inputs() - 1;
  const PartialShape& out = node.output_shape(0);
  const std::optional<std::vector<int64_t>> axis = ConstantInts(node.input(operand));
  if (!axis || axis->size() != 1 || !IsImage(out)) return std::nullopt;
  const int64_t along = (*axis)[0] < 0 ? (*axis)[0] + 4 : (*axis)[0];
  if (along < 1 || along > 3) return std::nullopt;
  ImageRoles roles{.operand = operand, .operand_kind = OperandKind::kAxes};
  for (int i = 0; i < operand; ++i) {
    const PartialShape& s = node.input(i).shape();
    if (!IsImage(s) || !AreEqualExcept(along, s, out)) return std::nullopt;
    roles.images.push_back(i);
  }
  return roles;
}

// Declares an op that builds one tensor from at least `min` values.
struct JoinedValues {
  int min;
  void operator()(OpDefBuilder& op) const {
    op.Input("values", "N*T").Output("output", "T");
    op.Attr("N", IntAttr().Min(min)).Attr("T", TypeAttr());
  }
};

OP(Concat, "An older form of ConcatV2, whose first input is the dimension.")
    .Input("concat_dim", DT_INT32)
    .With(JoinedValues{2})
    .MayForwardInput()
    .Recompute(RecomputeCost::kElements)
    .Shape(ConcatShape) GRADIENT([](Backprop& b) { ConcatGradient(b, "concat_dim"); });

OP(ConcatV2, "Concatenates `values` along dimension `axis`. Their other sizes must be equal.")
    .With(JoinedValues{2})
    .Input("axis", "Tidx")
    .Attr("Tidx", TypeAttr(IndexTypes(), DT_INT32))
    .MayForwardInput()
    .ConstantValue(ValueOfConcatV2)
    .Images(ImagesOfConcatV2)
    .Recompute(RecomputeCost::kElements)
    .Shape(ConcatV2Shape) GRADIENT([](Backprop& b) { ConcatGradient(b, "axis"); });

OP(Pack, "Stacks N tensors of equal shapes along a new dimension `axis`.")
    .With(JoinedValues{1})
    .Attr("axis", IntAttr(0))
    .MayForwardInput()
    .ConstantValue(ValueOfPack)
    .Recompute(RecomputeCost::kElements)
    .Shape(PackShape) GRADIENT([](Backprop& b) {
      b.IntoList("values", Unpack(b.Of(0), b.op().num_inputs(), {.axis = b.attr<int64_t>("axis")}));
    });

OP(ParallelConcat,
   "Concatenates N rows of shape [1, …]. TensorFlow copies each row when it is computed.")
    .With(JoinedValues{1})
    .Attr("shape", ShapeAttr())
    .Shape(ParallelConcatShape);

OP(_ParallelConcatStart, "Allocates the output of a ParallelConcat.")
    .Output("output", "dtype")
    .Attr("shape", ShapeAttr())
    .Attr("dtype", TypeAttr())
    .Stateful()
    .Shape([](ShapeContext& c) { return c.SetOutput(0, c.attr<PartialShape>("shape")); });

OP(_ParallelConcatUpdate, "Overwrites row `loc` of `value` with `update`.")
    .Input("value", "T")
    .Input("update", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("loc", IntAttr())
    .Shape(SameAsInput(0));

}  // namespace
}  // namespace sluice
