// Grayscale morphological dilation of images.
#include "ops/conv/window.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/conv/dilation_builders.h"
#endif

namespace sluice {
namespace {

using Ints = std::vector<int64_t>;

absl::Status Dilation2DShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape in, c.WithRank(0, 4));
  SLUICE_ASSIGN_OR_RETURN(PartialShape filter, c.WithRank(1, 3));
  const auto &strides = c.attr<Ints>("strides"), &rates = c.attr<Ints>("rates");
  if (strides.size() != 4 || rates.size() != 4) {
    return InvalidArgument("Dilation2D requires the stride and rates attributes to contain 4 ",
                           "values, but got: ", strides.size(), " and ", rates.size());
  }
  PartialShape out = in;
  for (int i : {1, 2}) {
    SLUICE_ASSIGN_OR_RETURN(const int64_t size,
                            WindowOutputs(in.dim(i), filter.dim(i - 1),
                                          {.stride = strides[i],
                                           .dilation = rates[i],
                                           .padding = PaddingOf(c.attr<std::string>("padding"))}));
    out.set_dim(i, size);
  }
  SLUICE_ASSIGN_OR_RETURN(const int64_t depth, MergeDim(in.dim(3), filter.dim(2)));
  out.set_dim(3, depth);
  return c.SetOutput(0, out);
}

#ifndef SLUICE_DEFINITIONS_ONLY
void DilationGradient(Backprop& b) {
  Output grad = b.Of("output"), x = b.Value("input"), filter = b.Value("filter");
  const Ints strides = b.attr<Ints>("strides"), rates = b.attr<Ints>("rates");
  const std::string padding = b.attr<std::string>("padding");
  b.Into("input", Dilation2DBackpropInput(x, filter, grad, strides, rates, padding));
  b.Into("filter", Dilation2DBackpropFilter(x, filter, grad, strides, rates, padding));
}
#endif

OP(Dilation2D,
   "Grayscale dilation: the greatest sum of a pixel and the filter's element under each window.")
    .Input("input", "T")
    .Input("filter", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(RealTypes()))
    .Attr("strides", IntListAttr().Min(4))
    .Attr("rates", IntListAttr().Min(4))
    .Attr("padding", OneOf({"SAME", "VALID"}))
    .Shape(Dilation2DShape) GRADIENT(DilationGradient);

OP(Dilation2DBackpropFilter, "Gradient of Dilation2D by its filter.")
    .Input("input", "T")
    .Input("filter", "T")
    .Input("out_backprop", "T")
    .Output("filter_backprop", "T")
    .Attr("T", TypeAttr(RealTypes()))
    .Attr("strides", IntListAttr().Min(4))
    .Attr("rates", IntListAttr().Min(4))
    .Attr("padding", OneOf({"SAME", "VALID"}))
    .Shape(SameAsInput(1));

OP(Dilation2DBackpropInput, "Gradient of Dilation2D by its input.")
    .Input("input", "T")
    .Input("filter", "T")
    .Input("out_backprop", "T")
    .Output("in_backprop", "T")
    .Attr("T", TypeAttr(RealTypes()))
    .Attr("strides", IntListAttr().Min(4))
    .Attr("rates", IntListAttr().Min(4))
    .Attr("padding", OneOf({"SAME", "VALID"}))
    .Shape(SameAsInput(0));

}  // namespace
}  // namespace sluice
