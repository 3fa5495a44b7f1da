// Ops that pad tensors with zeros, with another value, or with mirrored elements.
#include "graph/infer/expect_size.h"
#include "graph/infer/image_roles.h"
#include "graph/ir/constant.h"
#include "ops/op.h"

namespace sluice {
namespace {

// Sets output 0 to the shape of input 0, with the paddings in input 1 added (sign 1) or removed
// (-1).
absl::Status PaddedShape(ShapeContext& c, int sign) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape paddings, c.WithRank(1, 2));
  SLUICE_RETURN_IF_ERROR(ExpectSize(paddings.dim(1), 2));
  PartialShape in = c.input(0);
  const int64_t rank = paddings.dim(0);
  if (rank >= 0) {
    SLUICE_INVALID_IF(rank > TensorShape::kMaxRank, "too many dimensions: ", rank);
    SLUICE_ASSIGN_OR_RETURN(in, c.WithRank(0, static_cast<int>(rank)));
  }
  if (!in.rank_known()) return c.SetOutput(0, PartialShape());
  const std::optional<Tensor> value = c.InputValue(1);
  if (!value) return c.SetOutput(0, PartialShape::UnknownOfRank(in.rank()));
  const std::vector<int64_t> ends = *c.InputInts(1);
  for (int i = 0; i < in.rank(); ++i) {
    SLUICE_INVALID_IF(ends[2 * i] < 0 || ends[2 * i + 1] < 0,
                      "Paddings must be non-negative: ", ends[2 * i], " ", ends[2 * i + 1]);
    if (in.dim(i) < 0) continue;
    int64_t border, size;
    SLUICE_INVALID_IF(__builtin_add_overflow(ends[2 * i], ends[2 * i + 1], &border) ||
                          __builtin_add_overflow(in.dim(i), sign * border, &size),
                      "paddings of dimension ", i, " are too large");
    SLUICE_INVALID_IF(size < 0, "paddings are larger than dimension ", i);
    in.set_dim(i, size);
  }
  return c.SetOutput(0, std::move(in));
}

absl::Status PadShape(ShapeContext& c) { return PaddedShape(c, 1); }
absl::Status MirrorPadGradShape(ShapeContext& c) { return PaddedShape(c, -1); }

void PaddedInput(OpDefBuilder& op) {
  op.Input("input", "T").Input("paddings", "Tpaddings").Output("output", "T");
  op.Attr("T", TypeAttr()).Attr("Tpaddings", TypeAttr(IndexTypes(), DT_INT32));
}

#ifndef SLUICE_DEFINITIONS_ONLY
// Removes the paddings from the gradient.
void PadGradient(Backprop& b) {
  Graph& g = b.graph();
  Output before = Slice(b.Value("paddings"), IndexVector(g, {0, 0}),
                        Pack({RankNode(b.In(0)), IndexScalar(g, 1)}));
  Output begin = Reshape(before, IndexVector(g, {-1}));
  b.Into("input", Slice(b.Of(0), begin, ShapeNode(b.In(0), BaseType(begin.dtype()))));
}
#endif

std::optional<ImageRoles> ImagesOfPad(const Node& node) {
  const Tensor* paddings = ConstantBehind(node.input(1));
  const PartialShape &in = node.input(0).shape(), &out = node.output_shape(0);
  if (paddings == nullptr || paddings->shape() != TensorShape{4, 2}) return std::nullopt;
  if (!IsImage(in) || !IsImage(out)) return std::nullopt;
  return ImageRoles{.images = {0},
                    .operand = 1,
                    .operand_kind = OperandKind::kPaddings,
                    .fits_any_batch = true,
                    .keeps_batch = in.dim(0) == out.dim(0)};
}

OP(MirrorPad,
   "Pads the input with its own elements, mirrored at the edges. paddings[i] is the number of "
   "elements added before and after dimension i. SYMMETRIC repeats the edge, REFLECT does not.")
    .With(PaddedInput)
    .Attr("mode", OneOf({"REFLECT", "SYMMETRIC"}))
    .MayForwardInput()
    .Images(ImagesOfPad)
    .Recompute(RecomputeCost::kElements)
    .Shape(PadShape) GRADIENT([](Backprop& b) {
      b.Into("input", MirrorPadGrad(b.Of(0), b.Value("paddings"), b.attr<std::string>("mode")));
    });

OP(MirrorPadGrad,
   "Computes the gradient of MirrorPad: adds the padding elements to those they mirror.")
    .With(PaddedInput)
    .Attr("mode", OneOf({"REFLECT", "SYMMETRIC"}))
    .Shape(MirrorPadGradShape) GRADIENT([](Backprop& b) {
      b.Into("input", MirrorPad(b.Of(0), b.Value("paddings"), b.attr<std::string>("mode")));
    });

OP(Pad, "Adds paddings[i] zeros before and after dimension i.")
    .With(PaddedInput)
    .MayForwardInput()
    .Images(ImagesOfPad)
    .Recompute(RecomputeCost::kElements)
    .Shape(PadShape) GRADIENT(PadGradient);

OP(PadV2, "Pads with `constant_values` instead of zeros.")
    .With(PaddedInput)
    .Input("constant_values", "T")
    .MayForwardInput()
    .Images(ImagesOfPad)
    .Recompute(RecomputeCost::kElements)
    .Shape(PadShape) GRADIENT(PadGradient);

}  // namespace
}  // namespace sluice
