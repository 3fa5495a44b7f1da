#include "ops/pool/pool_shape.h"

#include <algorithm>

#include "graph/infer/expect_size.h"
#include "ops/conv/window.h"

namespace sluice {
namespace {

ImageLayout LayoutOf(const ShapeContext& c) {
  return ImageLayout::Of(c.node().AttrOr<std::string>("data_format", "NHWC"));
}

// Returns the shape of the result. As in MaxPool, windows may extend over channels.
absl::StatusOr<PartialShape> Pooled(ShapeContext& c, const WindowAttrs& a,
                                    const std::vector<int64_t>& ksize) {
  SLUICE_RETURN_IF_ERROR(a.CheckLength("ksize", ksize.size()));
  SLUICE_ASSIGN_OR_RETURN(PartialShape images, c.WithRank(0, a.layout.rank()));
  const int channel = a.layout.channel();
  const Sliding over_channels{.stride = a.strides[channel], .padding = a.along[0].padding};
  SLUICE_ASSIGN_OR_RETURN(const int64_t channels,
                          WindowOutputs(images.dim(channel), ksize[channel], over_channels));
  return a.OutputShape(images, a.SpaceOf(ksize), channels);
}

}  // namespace

absl::StatusOr<PartialShape> PooledShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const WindowAttrs attrs, WindowAttrs::Of(c.node()));
  return Pooled(c, attrs, c.attr<std::vector<int64_t>>("ksize"));
}

absl::Status PoolShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape out, PooledShape(c));
  return c.SetOutput(0, out);
}

absl::Status QuantizedPoolShape(ShapeContext& c) {
  for (int i : {1, 2}) {
    SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
    c.SetOutput(i, PartialShape::Scalar()).IgnoreError();
  }
  return PoolShape(c);
}

void QuantizedPool(OpDefBuilder& b) {
  b.Input("input", "T").Input("min_input", DT_FLOAT).Input("max_input", DT_FLOAT);
  b.Output("output", "T").Output("min_output", DT_FLOAT).Output("max_output", DT_FLOAT);
  b.Attr("T", TypeAttr(QuantizedTypes())).Attr("ksize", IntListAttr());
  b.Attr("strides", IntListAttr()).Attr("padding", OneOf({"SAME", "VALID"}));
}

absl::Status PoolShapeOfInputs(ShapeContext& c, int first) {
  for (int i : {first, first + 1}) {
    SLUICE_ASSIGN_OR_RETURN(PartialShape vector, c.WithRank(i, 1));
    SLUICE_RETURN_IF_ERROR(ExpectSize(vector.dim(0), 4));
  }
  SLUICE_RETURN_IF_ERROR(c.WithRank(0, 4).status());
  std::optional<std::vector<int64_t>> ksize = c.InputInts(first), strides = c.InputInts(first + 1);
  auto known = [](const auto& v) {
    return v && v->size() == 4 && std::find(v->begin(), v->end(), -1) == v->end();
  };
  if (!known(ksize) || !known(strides)) return c.SetOutput(0, PartialShape::UnknownOfRank(4));
  SLUICE_ASSIGN_OR_RETURN(const WindowAttrs attrs,
                          WindowAttrs::Of(c.node(), LayoutOf(c), *strides));
  SLUICE_ASSIGN_OR_RETURN(PartialShape out, Pooled(c, attrs, *ksize));
  return c.SetOutput(0, out);
}

absl::Status ImagesOfInput(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape images, c.WithRank(0, LayoutOf(c).rank()));
  return c.SetOutput(0, images);
}

absl::Status ImagesOfSizes(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape shape, c.InputAsShape(0));
  SLUICE_ASSIGN_OR_RETURN(shape, WithRank(shape, LayoutOf(c).rank()));
  return c.SetOutput(0, shape);
}

bool Pools(const Node& node, const PartialShape& in, const PartialShape& out) {
  if (!SlidesChannelsFirst(node, {"ksize"})) return false;
  const auto& ksize = *node.FindAttr<std::vector<int64_t>>("ksize");
  return IsImage(in) && IsImage(out) && in.dim(1) == out.dim(1) &&
         SlidesTo(node, in, {ksize[2], ksize[3]}, out);
}

std::optional<ImageRoles> ImagesOfPool(const Node& node) {
  if (!Pools(node, node.input(0).shape(), node.output_shape(0))) return std::nullopt;
  return ImageRoles{.images = {0}, .transposes_inside = true};
}

}  // namespace sluice
