// Repeats tensors.
#include "graph/infer/image_roles.h"
#include "graph/ir/constant.h"
#include "ops/op.h"

namespace sluice {
namespace {

// Returns the size of a dimension after it is repeated `times` times. -1 stands for unknown
// numbers.
absl::StatusOr<int64_t> TiledDim(int i, int64_t dim, int64_t times) {
  if (times == 0 || dim == 0) return 0;
  if (times < 0 || dim < 0) return -1;
  const int64_t size = MultiplyWithoutOverflow(times, dim);
  SLUICE_INVALID_IF(size < 0, "dimension ", i, " is too large");
  return size;
}

absl::Status TileShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape multiples, c.WithRank(1, 1));
  PartialShape in = c.input(0);
  if (multiples.dim(0) >= 0) {
    SLUICE_INVALID_IF(multiples.dim(0) > TensorShape::kMaxRank, "too many dimensions");
    SLUICE_ASSIGN_OR_RETURN(in, c.WithRank(0, static_cast<int>(multiples.dim(0))));
  }
  if (!in.rank_known()) return c.SetOutput(0, PartialShape());
  const std::optional<std::vector<int64_t>> times = c.InputInts(1);
  if (!times || static_cast<int>(times->size()) != in.rank()) {
    return c.SetOutput(0, PartialShape::UnknownOfRank(in.rank()));
  }
  const bool exact = c.InputValue(1).has_value();
  for (int i = 0; i < in.rank(); ++i) {
    const int64_t m = (*times)[i];
    SLUICE_INVALID_IF(exact && m < 0, "Expected multiples[", i, "] >= 0, but got ", m);
    SLUICE_ASSIGN_OR_RETURN(const int64_t size, TiledDim(i, in.dim(i), m));
    in.set_dim(i, size);
  }
  return c.SetOutput(0, std::move(in));
}

absl::Status BroadcastToShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(1, 1).status());
  SLUICE_ASSIGN_OR_RETURN(const PartialShape out, c.InputAsShape(1));
  const PartialShape& in = c.input(0);
  if (!out.rank_known() || !in.rank_known()) return c.SetOutput(0, out);
  SLUICE_RETURN_IF_ERROR(c.WithRankAtMost(0, out.rank()).status());
  for (int i = 0; i < in.rank(); ++i) {
    const int64_t want = out.dim(i + out.rank() - in.rank());
    if (in.dim(i) < 0 || want < 0 || in.dim(i) == 1 || in.dim(i) == want) continue;
    return InvalidArgument("Dimensions must be equal, but are ", in.dim(i), " and ", want, ": ",
                           in.ToString(), " does not broadcast to ", out.ToString());
  }
  return c.SetOutput(0, out);
}

#ifndef SLUICE_DEFINITIONS_ONLY

// Splits each dimension of the gradient into copies and elements, and sums over the copies.
void TileGradient(Backprop& b) {
  Graph& g = b.graph();
  Output multiples = b.Value("multiples");
  const DataType type = BaseType(multiples.dtype());
  Output shape = ShapeNode(b.In(0), type);
  Output pairs =
      Reshape(Transpose(Pack({multiples, shape}), IndexVector(g, {1, 0})), IndexVector(g, {-1}));
  Output axes = Range(IndexScalar(g, 0), SizeNode(pairs), IndexScalar(g, 2));
  Output grad;
  if (b.GradOf(0).is_slices()) {
    // Adds the rows of all copies along dimension 0 to those of the first copy.
    const IndexedSlices slices = b.GradOf(0).slices();
    Output rows = ElementAt(shape, 0);
    const DataType index_type = BaseType(slices.indices.dtype());
    if (type != index_type) rows = Cast(rows, index_type);
    grad = UnsortedSegmentSum(slices.values, FloorMod(slices.indices, rows), rows);
    pairs = ConcatV2({IndexVector(g, {1}, type), PartOf(pairs, 1, kToTheEnd)}, IndexScalar(g, 0));
  } else {
    grad = b.Of(0);
  }
  Output sum = Sum(Reshape(grad, pairs), axes);
  if (sum && b.In(0).shape().rank_known()) sum.node->set_output_shape(0, b.In(0).shape());
  b.Into("input", sum);
}

void BroadcastToGradient(Backprop& b) {
  Output shape = b.Value("shape");
  const DataType type = BaseType(shape.dtype());
  Output input_shape = ShapeNode(b.In(0), type);
  Output axes = BroadcastGradientArgs(shape, input_shape).r1;
  b.Into("input", Reshape(Sum(b.Of(0), axes, {.keep_dims = true}), input_shape));
}

#endif  // SLUICE_DEFINITIONS_ONLY

bool BroadcastsToItsShape(const Node& node) {
  const PartialShape& x = node.input(0).shape();
  const std::optional<std::vector<int64_t>> wanted = ConstantInts(node.input(1));
  return wanted && x.IsFullyDefined() && absl::MakeConstSpan(*wanted) == x.dims();
}

bool TilesOnce(const Node& node) {
  const std::optional<std::vector<int64_t>> times = ConstantInts(node.input(1));
  if (!times || !ConstantBehind(node.input(1))->shape().IsVector()) return false;
  return static_cast<int>(times->size()) == node.input(0).shape().rank() &&
         std::all_of(times->begin(), times->end(), [](int64_t n) { return n == 1; });
}

// Returns the image roles of a node whose input 1 has a number for each dimension of the images.
std::optional<ImageRoles> ImagesBySizes(const Node& node, const ImageRoles& roles) {
  const bool fits = IsImage(node.input(0).shape()) && IsImage(node.output_shape(0)) &&
                    IsVectorOf(node.input(1), 4);
  return fits ? std::make_optional(roles) : std::nullopt;
}

std::optional<ImageRoles> ImagesOfTile(const Node& node) {
  return ImagesBySizes(node,
                       {.images = {0}, .operand = 1, .fits_any_batch = true, .keeps_batch = false});
}

std::optional<ImageRoles> ImagesOfBroadcastTo(const Node& node) {
  return ImagesBySizes(node, {.images = {0}, .operand = 1, .broadcasts = true});
}

OP(BroadcastTo, "Broadcasts the input to the given shape.")
    .Input("input", "T")
    .Input("shape", "Tidx")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("Tidx", TypeAttr(IndexTypes(), DT_INT32))
    .MayForwardInput()
    .Identity(BroadcastsToItsShape)
    .ShapeInput(1)
    .Images(ImagesOfBroadcastTo)
    .Recompute(RecomputeCost::kElements)
    .Shape(BroadcastToShape) GRADIENT(BroadcastToGradient);

OP(Tile, "Repeats the input multiples[i] times along each dimension i.")
    .Input("input", "T")
    .Input("multiples", "Tmultiples")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("Tmultiples", TypeAttr(IndexTypes(), DT_INT32))
    .MayForwardInput()
    .Identity(TilesOnce)
    .Images(ImagesOfTile)
    .Recompute(RecomputeCost::kElements)
    .Shape(TileShape) GRADIENT(TileGradient);

OP(TileGrad, "Computes the gradient of Tile: sums the copies in the input.")
    .Input("input", "T")
    .Input("multiples", DT_INT32)
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Deprecated(3, "TileGrad has been replaced with reduce_sum")
    .Shape(UnknownOutputs());

}  // namespace
}  // namespace sluice
