// Ops for grayscale morphological dilation of images.
#include "ops/conv/window.h"
#include "ops/conv/window_attrs.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/gradient_nodes.h"
#endif

namespace sluice {
namespace {

absl::Status Dilation2DShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape in, c.WithRank(0, 4));
  SLUICE_ASSIGN_OR_RETURN(PartialShape filter, c.WithRank(1, 3));
  SLUICE_ASSIGN_OR_RETURN(const WindowAttrs attrs, WindowAttrs::Of(c.node()));
  SLUICE_ASSIGN_OR_RETURN(const int64_t depth, MergeDim(in.dim(3), filter.dim(2)));
  SLUICE_ASSIGN_OR_RETURN(PartialShape out, attrs.OutputShape(in, filter.dims(), depth));
  return c.SetOutput(0, out);
}

void DilationWindow(OpDefBuilder& b) {
  b.Attr("T", TypeAttr(RealTypes()))
      .Attr("strides", IntListAttr().Min(4))
      .Attr("rates", IntListAttr().Min(4))
      .With(SameOrValid);
}

OP(Dilation2D,
   "Computes the grayscale dilation of images: under each window, the greatest sum of a pixel and "
   "the filter's element.")
    .Input("input", "T")
    .Input("filter", "T")
    .Output("output", "T")
    .With(DilationWindow)
    .Shape(Dilation2DShape) GRADIENT([](Backprop& b) {
      const OutputList inputs = {b.Value("input"), b.Value("filter"), b.Of("output")};
      b.Into("input", Sibling(b, "Dilation2DBackpropInput", inputs));
      b.Into("filter", Sibling(b, "Dilation2DBackpropFilter", inputs));
    });

OP(Dilation2DBackpropFilter, "Computes the gradient of Dilation2D with respect to its filter.")
    .Input("input", "T")
    .Input("filter", "T")
    .Input("out_backprop", "T")
    .Output("filter_backprop", "T")
    .With(DilationWindow)
    .Shape(SameAsInput(1));

OP(Dilation2DBackpropInput, "Computes the gradient of Dilation2D with respect to its input.")
    .Input("input", "T")
    .Input("filter", "T")
    .Input("out_backprop", "T")
    .Output("in_backprop", "T")
    .With(DilationWindow)
    .Shape(SameAsInput(0));

}  // namespace
}  // namespace sluice
