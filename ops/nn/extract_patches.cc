// ExtractImagePatches and ExtractVolumePatches, which return the pixels under each window as
// channels.
#include "graph/tensor/sizes.h"
#include "ops/conv/window.h"
#include "ops/conv/window_attrs.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/gradient_nodes.h"
#include "ops/shape_nodes.h"
#endif

namespace sluice {
namespace {

ShapeFunction PatchShape(const char* format) {
  return [format](ShapeContext& c) -> absl::Status {
    SLUICE_ASSIGN_OR_RETURN(const WindowAttrs attrs, WindowAttrs::Of(c.node(), format));
    SLUICE_ASSIGN_OR_RETURN(PartialShape in, c.WithRank(0, attrs.layout.rank()));
    const auto& sizes = c.attr<std::vector<int64_t>>("ksizes");
    SLUICE_RETURN_IF_ERROR(attrs.CheckLength("ksizes", sizes.size()));
    int64_t channels = in.dim(attrs.layout.channel());
    for (int64_t size : attrs.SpaceOf(sizes)) {
      if (channels >= 0) channels = SaturatedProduct(channels, size);
    }
    SLUICE_ASSIGN_OR_RETURN(PartialShape out,
                            attrs.OutputShape(in, attrs.SpaceOf(sizes), channels));
    return c.SetOutput(0, out);
  };
}

#ifndef SLUICE_DEFINITIONS_ONLY
// Adds each element of a patch's gradient to its pixel. To find the pixels, applies the same op to
// an image whose pixels are numbered from 1, so that 0 stands for padding. `n` is the number of
// spatial dimensions.
void PatchGradient(Backprop& b, int n) {
  Graph& graph = b.graph();
  Output images = b.In(0), grad = b.Of("patches");
  Output in = ShapeNode(images), out = ShapeNode(b.Out(0));
  Output one = IndexScalar(graph, 1);
  Output space = PartOf(in, 1, n + 1);
  Output pixels = ReduceProd(space);
  Output numbers = Range(one, Add(pixels, one), one);
  Output wrapped = Reshape(Cast(numbers, DT_DOUBLE),
                           Concat({IndexVector(graph, {1}), space, IndexVector(graph, {1})}, 0));
  Output places = Reshape(Cast(Sibling(b, b.op().op(), {wrapped}), DT_INT32), {-1});
  Output batch = PartOf(in, 0, 1), channels = PartOf(in, n + 1, n + 2);
  Output positions = Reshape(ReduceProd(PartOf(out, 1, n + 1)), {1});
  // The shape is [batch, positions, elements of a patch, channels]. The transposition moves the
  // batch behind the elements.
  Output split = Reshape(grad, Concat({batch, positions, IndexVector(graph, {-1}), channels}, 0));
  Output flat = Reshape(Transpose(split, {1, 2, 0, 3}),
                        Concat({IndexVector(graph, {-1}), Mul(batch, channels)}, 0));
  Output sums = UnsortedSegmentSum(flat, places, Add(pixels, one));
  Output kept = Slice(sums, IndexVector(graph, {1, 0}), IndexVector(graph, {-1, -1}));
  Output moved =
      Transpose(Reshape(kept, Concat({Reshape(pixels, {1}), batch, channels}, 0)), {1, 0, 2});
  b.Into(0, Reshape(moved, in));
}
#endif

OP(ExtractImagePatches,
   "Returns the pixels under each window as the channels of one output pixel. Pixels outside the "
   "image are 0.")
    .Input("images", "T")
    .Output("patches", "T")
    .Attr("ksizes", IntListAttr().Min(4))
    .Attr("strides", IntListAttr().Min(4))
    .Attr("rates", IntListAttr().Min(4))
    .Attr("T", TypeAttr(RealTypes() | ComplexTypes() | TypeSet{DT_BOOL}))
    .With(SameOrValid)
    .Shape(PatchShape("NHWC")) GRADIENT([](Backprop& b) { PatchGradient(b, 2); });

OP(ExtractVolumePatches, "ExtractImagePatches with three spatial dimensions.")
    .Input("input", "T")
    .Output("patches", "T")
    .Attr("ksizes", IntListAttr().Min(5))
    .Attr("strides", IntListAttr().Min(5))
    .Attr("T", TypeAttr(RealTypes()))
    .With(SameOrValid)
    .Shape(PatchShape("NDHWC")) GRADIENT([](Backprop& b) { PatchGradient(b, 3); });

}  // namespace
}  // namespace sluice
