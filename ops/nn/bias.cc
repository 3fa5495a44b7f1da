// Ops that add a bias to each channel. Channels are the last dimension (data_format NHWC), or the
// dimension after the batch (NCHW).
#include "graph/infer/image_roles.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/nn/bias_builders.h"
#endif

namespace sluice {
namespace {

int ChannelDim(const PartialShape& value, bool nchw) { return nchw ? 1 : value.rank() - 1; }

absl::Status AddShape(ShapeContext& c, bool nchw) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape value, c.WithRankAtLeast(0, nchw ? 3 : 2));
  SLUICE_ASSIGN_OR_RETURN(PartialShape bias, c.WithRank(1, 1));
  if (!value.rank_known()) return c.SetOutput(0, value);
  const int channel = ChannelDim(value, nchw);
  SLUICE_ASSIGN_OR_RETURN(int64_t size, MergeDim(value.dim(channel), bias.dim(0)));
  value.set_dim(channel, size);
  return c.SetOutput(0, value);
}

bool IsNchw(const ShapeContext& c) { return c.attr<std::string>("data_format") == "NCHW"; }

std::optional<ImageRoles> ImagesOfBiasAdd(const Node& node) {
  const PartialShape& x = node.input(0).shape();
  if (!HasChannelsFirst(node) || !IsImage(x) || !IsVectorOf(node.input(1), x.dim(1))) {
    return std::nullopt;
  }
  return ImageRoles{.images = {0}};
}

std::optional<ImageRoles> ImagesOfBiasAddGrad(const Node& node) {
  if (!HasChannelsFirst(node) || !IsImage(node.input(0).shape())) return std::nullopt;
  return ImageRoles{.images = {0}, .makes_image = false};
}

OP(BiasAdd, "Adds bias [channels] to the channels of `value`, which has at least 2 dimensions.")
    .Input("value", "T")
    .Input("bias", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("data_format", OneOf({"NHWC", "NCHW"}, "NHWC"))
    .Images(ImagesOfBiasAdd)
    .Recompute(RecomputeCost::kElements)
    .Shape([](ShapeContext& c) { return AddShape(c, IsNchw(c)); }) GRADIENT([](Backprop& b) {
      Output grad = b.Of("output");
      b.Into("value", grad);
      b.Into("bias", BiasAddGrad(grad, {.data_format = b.attr<std::string>("data_format")}));
    });

OP(BiasAddGrad, "Sums out_backprop over all dimensions except the channels.")
    .Input("out_backprop", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("data_format", OneOf({"NHWC", "NCHW"}, "NHWC"))
    .Images(ImagesOfBiasAddGrad)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape grad, c.WithRankAtLeast(0, IsNchw(c) ? 3 : 2));
      if (!grad.rank_known()) return c.SetOutput(0, PartialShape::Vector());
      return c.SetOutput(0, {grad.dim(ChannelDim(grad, IsNchw(c)))});
    }) GRADIENT([](Backprop& b) {
      // Repeats the gradient of the bias over the dimensions that were summed.
      Output grad = b.Of("output");
      Output shape = ShapeOf(b.Value("out_backprop")), bias_shape = ShapeOf(grad);
      Output axis = Constant(b.graph(), 0, "concat/axis");
      Output one = Constant(b.graph(), {1}, "concat/values");
      Output expanded, repeats;
      if (b.attr<std::string>("data_format") == "NCHW") {
        Output batch = RowsOf(shape, 0, 1), space = RowsOf(shape, 2, 0);
        expanded = ConcatV2({OnesLike(batch), bias_shape, OnesLike(space)}, axis);
        repeats = ConcatV2({batch, one, space}, axis);
      } else {
        Output rest = RowsOf(shape, 0, -1);
        expanded = ConcatV2({OnesLike(rest), bias_shape}, axis);
        repeats = ConcatV2({rest, one}, axis);
      }
      b.Into("out_backprop", Tile(Reshape(grad, expanded), repeats));
    });

OP(BiasAddV1, "BiasAdd without data_format. Channels are the last dimension.")
    .Input("value", "T")
    .Input("bias", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Recompute(RecomputeCost::kElements)
    .Shape([](ShapeContext& c) { return AddShape(c, false); }) GRADIENT([](Backprop& b) {
      Output grad = b.Of("output");
      b.Into("value", grad);
      b.Into("bias", Sum(grad, Range(RankOf(grad) - 1)));
    });

}  // namespace
}  // namespace sluice
