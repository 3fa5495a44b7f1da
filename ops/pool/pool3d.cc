// Pools over volumes: the greatest or the mean element of each window.
#include <algorithm>

#include "ops/conv/volume_geometry.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/pool/pool3d_builders.h"
#endif

namespace sluice {
namespace {

absl::Status Pool3DShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape input, c.WithRank(0, 5));
  const auto& ksize = c.attr<std::vector<int64_t>>("ksize");
  const auto& strides = c.attr<std::vector<int64_t>>("strides");
  if (ksize.size() != 5 || strides.size() != 5) {
    return InvalidArgument(
        "Pool3D ops require the ksize and stride attributes to contain 5 values, ",
        "but got: ", ksize.size(), " and ", strides.size());
  }
  const VolumeLayout layout = VolumeLayout::Of(c.attr<std::string>("data_format"));
  PartialShape output = PartialShape::UnknownOfRank(5);
  output.set_dim(0, input.dim(0));
  output.set_dim(layout.channel, input.dim(layout.channel));
  for (int d = 0; d < 3; ++d) {
    const Sliding along{.stride = strides[layout.space + d],
                        .padding = PaddingOf(c.attr<std::string>("padding"))};
    SLUICE_ASSIGN_OR_RETURN(const int64_t size, WindowOutputs(input.dim(layout.space + d),
                                                              ksize[layout.space + d], along));
    output.set_dim(layout.space + d, size);
  }
  return c.SetOutput(0, output);
}

absl::Status VolumeOfInput(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape volume, c.WithRank(0, 5));
  return c.SetOutput(0, volume);
}

#ifndef SLUICE_DEFINITIONS_ONLY
struct Pool3DAttrs {
  explicit Pool3DAttrs(Backprop& b)
      : ksize(b.attr<std::vector<int64_t>>("ksize")),
        strides(b.attr<std::vector<int64_t>>("strides")),
        padding(b.attr<std::string>("padding")),
        data_format(b.attr<std::string>("data_format")) {}
  std::vector<int64_t> ksize, strides;
  std::string padding, data_format;
};

// Which element was the greatest does not change with small changes of the volumes.
void NoGradientOfVolumes(Backprop& b) {
  b.Into("orig_input", ZerosLike(b.Value("orig_input")));
  b.Into("orig_output", ZerosLike(b.Value("orig_output")));
}
#endif

OP(AvgPool3D, "The mean of each window. What lies outside the volume does not count.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("ksize", IntListAttr().Min(5))
    .Attr("strides", IntListAttr().Min(5))
    .Attr("padding", OneOf({"SAME", "VALID"}))
    .Attr("data_format", OneOf({"NDHWC", "NCDHW"}, "NDHWC"))
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(Pool3DShape) GRADIENT([](Backprop& b) {
      const Pool3DAttrs a(b);
      b.Into("input", AvgPool3DGrad(ShapeOf(b.Value("input")), b.Of("output"), a.ksize, a.strides,
                                    a.padding, {.data_format = a.data_format}));
    });

OP(AvgPool3DGrad, "Gradient of AvgPool3D by its input, whose shape is orig_input_shape.")
    .Input("orig_input_shape", DT_INT32)
    .Input("grad", "T")
    .Output("output", "T")
    .Attr("ksize", IntListAttr().Min(5))
    .Attr("strides", IntListAttr().Min(5))
    .Attr("padding", OneOf({"SAME", "VALID"}))
    .Attr("data_format", OneOf({"NDHWC", "NCDHW"}, "NDHWC"))
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape shape, c.InputAsShape(0));
      SLUICE_ASSIGN_OR_RETURN(shape, WithRank(shape, 5));
      return c.SetOutput(0, shape);
    }) GRADIENT([](Backprop& b) {
      const Pool3DAttrs a(b);
      b.Into("grad", AvgPool3D(b.Of("output"), a.ksize, a.strides, a.padding,
                               {.data_format = a.data_format}));
    });

OP(MaxPool3D, "The greatest element of each window.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("ksize", IntListAttr().Min(5))
    .Attr("strides", IntListAttr().Min(5))
    .Attr("padding", OneOf({"SAME", "VALID"}))
    .Attr("data_format", OneOf({"NDHWC", "NCDHW"}, "NDHWC"))
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_BFLOAT16, DT_FLOAT}))
    .Shape(Pool3DShape) GRADIENT([](Backprop& b) {
      const Pool3DAttrs a(b);
      b.Into("input", MaxPool3DGrad(b.Value("input"), b.Value("output"), b.Of("output"), a.ksize,
                                    a.strides, a.padding, {.data_format = a.data_format}));
    });

OP(MaxPool3DGrad,
   "Gradient of MaxPool3D: each element of grad goes to all elements of its window that are as "
   "great as the output.")
    .Input("orig_input", "TInput")
    .Input("orig_output", "TInput")
    .Input("grad", "T")
    .Output("output", "T")
    .Attr("ksize", IntListAttr().Min(5))
    .Attr("strides", IntListAttr().Min(5))
    .Attr("padding", OneOf({"SAME", "VALID"}))
    .Attr("data_format", OneOf({"NDHWC", "NCDHW"}, "NDHWC"))
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_BFLOAT16, DT_FLOAT}, DT_FLOAT))
    .Attr("TInput", TypeAttr(TypeSet{DT_HALF, DT_BFLOAT16, DT_FLOAT}, DT_FLOAT))
    .Shape(VolumeOfInput) GRADIENT([](Backprop& b) {
      const Pool3DAttrs a(b);
      NoGradientOfVolumes(b);
      b.Into("grad",
             MaxPool3DGradGrad(b.Value("orig_input"), b.Value("orig_output"), b.Of("output"),
                               a.ksize, a.strides, a.padding, {.data_format = a.data_format}));
    });

OP(MaxPool3DGradGrad,
   "Second gradient of MaxPool3D: the element of grad at the place of the first greatest element "
   "of each window.")
    .Input("orig_input", "T")
    .Input("orig_output", "T")
    .Input("grad", "T")
    .Output("output", "T")
    .Attr("ksize", IntListAttr().Min(5))
    .Attr("strides", IntListAttr().Min(5))
    .Attr("padding", OneOf({"SAME", "VALID"}))
    .Attr("data_format", OneOf({"NDHWC", "NCDHW"}, "NDHWC"))
    .Attr("T", TypeAttr(RealTypes()))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.input(0).MergeWith(c.input(2)).status());
      return Pool3DShape(c);
    }) GRADIENT([](Backprop& b) {
      const Pool3DAttrs a(b);
      NoGradientOfVolumes(b);
      b.Into("grad", MaxPool3DGrad(b.Value("orig_input"), b.Value("orig_output"), b.Of("output"),
                                   a.ksize, a.strides, a.padding, {.data_format = a.data_format}));
    });

}  // namespace
}  // namespace sluice
