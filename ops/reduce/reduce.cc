// Ops that reduce over axes: sums, means, products, extremes, norms, and positions of extremes.
//
// reduction_indices is a scalar or a vector of axes. Negative axes count from the last one. If
// there are no axes, the output is the input. With keep_dims, reduced axes have size 1 in the
// output.
#include <numeric>

#include "graph/infer/constant_context.h"
#include "graph/infer/image_roles.h"
#include "graph/ir/constant.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/reduce/scan_builders.h"
#endif

namespace sluice {
namespace {

std::optional<std::vector<int64_t>> AxesOf(const std::optional<Tensor>& value) {
  if (!value) return std::nullopt;
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < value->num_elements(); ++i) {
    axes.push_back(value->dtype() == DT_INT32 ? value->data<int32_t>()[i]
                                              : value->data<int64_t>()[i]);
  }
  return axes;
}

// Returns, for each dimension, whether `axes` contains it.
absl::StatusOr<std::vector<bool>> AreReduced(const std::vector<int64_t>& axes, int rank) {
  std::vector<bool> reduced(rank, false);
  for (int64_t axis : axes) {
    SLUICE_INVALID_IF(axis < -rank || axis >= rank, "Invalid reduction dimension ", axis,
                      " for input with ", rank, " dimensions.");
    reduced[axis < 0 ? axis + rank : axis] = true;
  }
  return reduced;
}

absl::Status ReductionShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRankAtMost(1, 1).status());
  const PartialShape& input = c.input(0);
  if (!input.rank_known()) return c.SetOutput(0, PartialShape());
  const bool keep_dims = c.attr<bool>("keep_dims");
  std::optional<std::vector<int64_t>> axes = AxesOf(c.InputValue(1));
  if (!axes) {
    return c.SetOutput(0, keep_dims ? PartialShape::UnknownOfRank(input.rank()) : PartialShape());
  }
  SLUICE_ASSIGN_OR_RETURN(const std::vector<bool> reduced, AreReduced(*axes, input.rank()));
  PartialShape output = PartialShape::Scalar();
  for (int i = 0; i < input.rank(); ++i) {
    if (!reduced[i]) {
      output.AddDim(input.dim(i));
    } else if (keep_dims) {
      output.AddDim(1);
    }
  }
  return c.SetOutput(0, output);
}

// Declares a reduction of elements of `types`. If `types` is empty, the elements are bool.
struct ReductionOf {
  TypeSet types;
  void operator()(OpDefBuilder& op) const {
    if (types.empty()) {
      op.Input("input", DT_BOOL).Input("reduction_indices", "Tidx").Output("output", DT_BOOL);
    } else {
      op.Input("input", "T").Input("reduction_indices", "Tidx").Output("output", "T");
    }
    op.Attr("keep_dims", BoolAttr(false));
    if (!types.empty()) op.Attr("T", TypeAttr(types));
    op.Attr("Tidx", TypeAttr(IndexTypes(), DT_INT32)).Shape(ReductionShape);
  }
};

absl::Status ArgShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  const PartialShape& input = c.input(0);
  if (!input.rank_known()) return c.SetOutput(0, PartialShape());
  const int rank = input.rank();
  if (rank <= 1) return c.SetOutput(0, PartialShape::Scalar());
  std::optional<std::vector<int64_t>> axis = c.InputInts(1);
  std::optional<Tensor> value = c.InputValue(1);
  if (!value || !axis) return c.SetOutput(0, PartialShape::UnknownOfRank(rank - 1));
  const int64_t d = (*axis)[0];
  SLUICE_INVALID_IF(d < -rank || d >= rank, "Dimension (", d, ") must be in the range [", -rank,
                    ", ", rank, "), where ", rank, " is the number of dimensions in the input.");
  PartialShape output = PartialShape::Scalar();
  for (int i = 0; i < rank; ++i) {
    if (i != (d < 0 ? d + rank : d)) output.AddDim(input.dim(i));
  }
  return c.SetOutput(0, output);
}

// Declares an op that returns the position of an extreme along a dimension.
struct ArgExtreme {
  TypeSet dimension_types;
  TypeSet output_types;
  void operator()(OpDefBuilder& op) const {
    op.Input("input", "T").Input("dimension", "Tidx").Output("output", "output_type");
    op.Attr("T", TypeAttr(RealTypes() | QuantizedTypes() | TypeSet{DT_BOOL}));
    op.Attr("Tidx", TypeAttr(dimension_types, DT_INT32));
    op.Attr("output_type", TypeAttr(output_types, DT_INT64)).Shape(ArgShape);
  }
};

#ifndef SLUICE_DEFINITIONS_ONLY
// Returns the gradient of Sum: repeats the output's gradient over the reduced axes. As in
// TensorFlow, adds Reshape and Tile with constants if the shapes are known.
Output SumGradient(Backprop& b) {
  Output x = b.In(0), axes = b.In(1), grad = b.Of(0);
  if (!x || !grad) return Output();
  Graph& graph = b.graph();
  const PartialShape shape = x.shape();
  std::optional<Tensor> axes_value = ConstantValue(axes);
  if (shape.rank_known() && axes_value) {
    std::vector<int64_t> all(shape.rank());
    std::iota(all.begin(), all.end(), 0);
    const std::vector<int64_t> reduced = *AxesOf(axes_value);
    if (axes_value->rank() == 1 && reduced == all) {
      Output ones = IntVector(graph, std::vector<int64_t>(shape.rank(), 1), "Reshape/shape");
      Output one = Reshape(grad, ones);
      Output multiples = shape.IsFullyDefined()
                             ? IntVector(graph, {shape.dims().begin(), shape.dims().end()}, "Const")
                             : Shape(x);
      return Tile(one, multiples);
    }
    if (shape.IsFullyDefined()) {
      std::vector<int64_t> kept(shape.dims().begin(), shape.dims().end());
      std::vector<int64_t> multiples(kept.size(), 1);
      for (int64_t axis : reduced) {
        const size_t i = axis < 0 ? axis + shape.rank() : axis;
        if (i >= kept.size()) continue;
        multiples[i] = shape.dim(static_cast<int>(i));
        kept[i] = 1;
      }
      return Tile(Reshape(grad, IntVector(graph, kept, "Reshape/shape")),
                  IntVector(graph, multiples, "Tile/multiples"));
    }
  }
  Output input_shape = ShapeOf(x);
  if (!b.attr<bool>("keep_dims")) {
    Output kept;
    {
      ColocateWith with(graph, input_shape);
      kept = ReducedShape(input_shape, axes);
    }
    grad = Reshape(grad, kept);
  }
  return BroadcastTo(grad, input_shape);
}

// Returns `axes` as int32 numbers in [0, rank).
Output NonNegative(Output axes, Output rank) {
  if (BaseType(axes.dtype()) != DT_INT32) axes = Cast(axes, DT_INT32);
  return (axes + rank) % rank;
}

Output GatherRows(Output params, Output indices) {
  return GatherV2(params, indices, Constant(*params.graph(), 0, "GatherV2/axis"));
}

void MeanGradient(Backprop& b) {
  Output sum = SumGradient(b);
  if (!sum) return;
  const PartialShape& in = b.In(0).shape();
  const PartialShape& out = b.Out(0).shape();
  Output factor;
  if (in.IsFullyDefined() && out.IsFullyDefined()) {
    const int64_t count = in.num_elements() / std::max<int64_t>(out.num_elements(), 1);
    factor = NumberLike(sum, static_cast<double>(count));
  } else {
    Output shape = ShapeOf(b.In(0));
    Output axes = NonNegative(b.In(1), SizeOf(shape));
    factor = Cast(ReduceProd(GatherRows(shape, axes)), BaseType(sum.dtype()));
  }
  b.Into(0, RealDiv(sum, factor, {.name = "truediv"}));
}

// Adds the gradient of Max and Min. Elements that are equal to the extreme share it equally.
void ExtremeGradient(Backprop& b) {
  Output x = b.In(0), axes = b.In(1), y = b.Out(0), grad = b.Of(0);
  Output x_shape = ShapeOf(x);
  Output kept;
  if (b.attr<bool>("keep_dims")) {
    kept = ShapeOf(y);
  } else {
    kept = ReducedShape(x_shape, axes);
    y = Reshape(y, kept);
    grad = Reshape(grad, kept);
  }
  Output indicators = Cast(Equal(y, x), BaseType(grad.dtype()));
  Output selected = Reshape(Sum(indicators, axes), kept);
  b.Into(0, indicators / selected * grad);
}

// Adds the gradient of Prod. The derivative with respect to an element is the product of all other
// elements. To allow zeros, it is computed without division: as the product of the elements before
// the element, times the product of those after it.
void ProdGradient(Backprop& b) {
  Output x = b.In(0), grad = b.Of(0);
  Graph& graph = b.graph();
  Output x_shape = ShapeOf(x);
  Output axes = Reshape(b.In(1), IntVector(graph, {-1}, "Reshape/shape"));
  if (!b.attr<bool>("keep_dims")) grad = Reshape(grad, ReducedShape(x_shape, b.In(1)));
  grad = BroadcastTo(grad, x_shape);
  Output permutation, reduced_count, other_count;
  {
    DeviceScope cpu(graph, "/cpu:0");
    Output rank = Rank(x);
    Output reduced = NonNegative(axes, rank);
    Output other = ListDiff(Range(rank), reduced).out;
    permutation = ConcatV2({reduced, other}, Constant(graph, 0, "concat/axis"));
    reduced_count = ReduceProd(GatherRows(x_shape, reduced));
    other_count = ReduceProd(GatherRows(x_shape, other));
  }
  Output permuted = Transpose(x, permutation);
  Output permuted_shape = ShapeOf(permuted);
  Output rows = Reshape(permuted, Pack({reduced_count, other_count}, {.name = "Reshape/shape"}));
  Output axis = Constant(graph, 0, "Cumprod/axis");
  Output left = Cumprod(rows, axis, {.exclusive = true});
  Output right = Cumprod(rows, axis, {.exclusive = true, .reverse = true});
  Output others = Reshape(ConjOf(left) * ConjOf(right), permuted_shape);
  Output back = Transpose(others, InvertPermutation(permutation));
  b.Into(0, Reshape(grad * back, x_shape));
}

void NormGradient(Backprop& b) {
  Output x = b.In(0), y = b.Out(0), grad = b.Of(0);
  if (!b.attr<bool>("keep_dims")) {
    Output kept = ReducedShape(ShapeOf(x), b.In(1));
    y = Reshape(y, kept);
    grad = Reshape(grad, kept);
  }
  b.Into(0, RealDiv(x, y / grad, {.name = "truediv_1"}));
}
#endif

// Returns the product of a vector of known integers.
std::optional<PartialInts> ValueOfProd(ConstantContext& c) {
  const std::optional<PartialInts> data = c.Input(0);
  if (!data || data->is_scalar || c.node().AttrOr<bool>("keep_dims", false)) return std::nullopt;
  const std::optional<PartialInts> axes = c.Input(1);
  if (!axes || axes->values.size() != 1) return std::nullopt;
  int64_t product = 1;
  for (const std::optional<int64_t>& v : data->values) {
    if (!v || *v < 0) return PartialInts::Scalar(std::nullopt);
    product = MultiplyWithoutOverflow(product, *v);
    if (product < 0) return PartialInts::Scalar(std::nullopt);
  }
  return PartialInts::Scalar(product);
}

// Returns, for each dimension of an image, whether `axes` contains it. Returns nothing if an axis
// is repeated or out of range.
std::optional<std::array<bool, 4>> ReducedOfImage(const std::vector<int64_t>& axes) {
  std::array<bool, 4> reduced = {};
  for (int64_t axis : axes) {
    if (axis < -4 || axis >= 4 || reduced[(axis + 4) % 4]) return std::nullopt;
    reduced[(axis + 4) % 4] = true;
  }
  return reduced;
}

// Returns the image roles, or nothing if the dimensions of the output would not keep their order
// with channels last. Then the layout must not change.
std::optional<ImageRoles> ImagesOfReduction(const Node& node) {
  const std::optional<std::vector<int64_t>> axes = ConstantInts(node.input(1));
  const bool* keeps = node.FindAttr<bool>("keep_dims");
  if (!axes || keeps == nullptr || !IsImage(node.input(0).shape())) return std::nullopt;
  const std::optional<std::array<bool, 4>> found = ReducedOfImage(*axes);
  if (!found) return std::nullopt;
  const std::array<bool, 4>& reduced = *found;
  if (!*keeps && !reduced[1] && !(reduced[2] && reduced[3])) return std::nullopt;
  return ImageRoles{.images = {0},
                    .makes_image = *keeps,
                    .operand = 1,
                    .operand_kind = OperandKind::kAxes,
                    .fits_any_batch = true,
                    .keeps_batch = false};
}

OP(All, "Tests whether all elements are true. True for no elements.").With(ReductionOf{});

OP(Any, "Tests whether at least one element is true. False for no elements.").With(ReductionOf{});

OP(Sum, "Computes the sum of elements. 0 for no elements.")
    .With(ReductionOf{NumberTypes()})
    .Images(ImagesOfReduction)
    .Recompute(RecomputeCost::kElements) GRADIENT([](Backprop& b) { b.Into(0, SumGradient(b)); });

OP(Mean, "Computes the mean of elements. For no elements NaN, or 0 for integers.")
    .With(ReductionOf{NumberTypes()})
    .Images(ImagesOfReduction)
    .Recompute(RecomputeCost::kElements) GRADIENT(MeanGradient);

OP(Prod, "Computes the product of elements. 1 for no elements.")
    .With(ReductionOf{NumberTypes()})
    .ConstantValue(ValueOfProd) GRADIENT(ProdGradient);

OP(Max,
   "Returns the largest element, NaN if an element is NaN. For no elements the lowest value of the "
   "type.")
    .With(ReductionOf{RealTypes() | QuantizedTypes()})
    .Images(ImagesOfReduction)
    .Recompute(RecomputeCost::kElements) GRADIENT(ExtremeGradient);

OP(Min,
   "Returns the smallest element, NaN if an element is NaN. For no elements the highest value of "
   "the type.")
    .With(ReductionOf{RealTypes() | QuantizedTypes()})
    .Images(ImagesOfReduction)
    .Recompute(RecomputeCost::kElements) GRADIENT(ExtremeGradient);

OP(EuclideanNorm, "Computes the square root of the sum of squared absolute values.")
    .With(ReductionOf{NumberTypes()}) GRADIENT(NormGradient);

OP(ArgMax, "Returns the index of the largest element along a dimension, of equal ones the first.")
    .With(ArgExtreme{IndexTypes() | TypeSet{DT_INT16}, IndexTypes() | TypeSet{DT_INT16, DT_UINT16}})
        GRADIENT([](Backprop&) {});

OP(ArgMin, "Returns the index of the smallest element along a dimension, of equal ones the first.")
    .With(ArgExtreme{IndexTypes(), IndexTypes()}) GRADIENT([](Backprop&) {});

}  // namespace
}  // namespace sluice
