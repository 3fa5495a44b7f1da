// Convolutions fused with the ops around them: the fused ops of TensorFlow's remapper, and
// convolutions of padded or resized images.
//
// fused_ops names the ops after the convolution: BiasAdd or FusedBatchNorm (with arguments scale,
// offset, mean and variance), then optionally an activation.
#include "graph/infer/expect_size.h"
#include "graph/tensor/sizes.h"
#include "ops/conv/conv_shape.h"
#include "ops/conv/multiply_adds.h"
#include "ops/conv/window_attrs.h"
#include "ops/matmul/epilogue_attrs.h"
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status FusedConv2DShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(0, 4).status());
  SLUICE_RETURN_IF_ERROR(c.WithRank(1, 4).status());
  const bool is_known = c.attr<std::string>("data_format") != "NCHW_VECT_C";
  return is_known ? ConvShape(c) : c.SetOutput(0, PartialShape::UnknownRank());
}

// Shape function of ops whose inputs are images, sizes (if the images are resized), paddings and
// filters.
absl::Status PadConvShape(ShapeContext& c) {
  const int paddings_input = c.num_inputs() - 2;
  SLUICE_ASSIGN_OR_RETURN(PartialShape padded, c.WithRank(0, 4));
  SLUICE_ASSIGN_OR_RETURN(PartialShape paddings, c.WithRank(paddings_input, 2));
  SLUICE_ASSIGN_OR_RETURN(PartialShape filter, c.WithRank(paddings_input + 1, 4));
  SLUICE_RETURN_IF_ERROR(ExpectSize(paddings.dim(0), 4));
  SLUICE_RETURN_IF_ERROR(ExpectSize(paddings.dim(1), 2));
  if (paddings_input == 2) {
    std::optional<std::vector<int64_t>> size = c.InputInts(1);
    const bool known = size && size->size() == 2;
    padded.set_dim(1, known ? (*size)[0] : -1);
    padded.set_dim(2, known ? (*size)[1] : -1);
  }
  const std::optional<Tensor> values = c.InputValue(paddings_input);
  for (int d = 0; d < 4; ++d) {
    if (!values || values->num_elements() != 8) {
      padded.set_dim(d, -1);
    } else if (padded.dim(d) >= 0) {
      const int32_t* sizes = values->data<int32_t>() + 2 * d;
      SLUICE_INVALID_IF(sizes[0] < 0 || sizes[1] < 0, "paddings must not be negative");
      padded.set_dim(d, SaturatedSum(padded.dim(d), int64_t{sizes[0]} + sizes[1]));
    }
  }
  SLUICE_ASSIGN_OR_RETURN(const WindowAttrs attrs, WindowAttrs::Of(c.node()));
  SLUICE_ASSIGN_OR_RETURN(PartialShape out, ConvolvedShape(attrs, padded, filter));
  return c.SetOutput(0, out);
}

void PadConvWindow(OpDefBuilder& b) {
  b.Attr("mode", OneOf({"REFLECT", "SYMMETRIC"})).Attr("strides", IntListAttr()).With(SameOrValid);
}

// Declares the arguments of a convolution and of its fused_ops.
void FusedArguments(OpDefBuilder& b) {
  b.Input("input", "T").Input("filter", "T").Input("args", "num_args*T").Output("output", "T");
}

OP(FusedPadConv2D,
   "Pads images with mirrored pixels and applies Conv2D. SYMMETRIC repeats the edge, REFLECT does "
   "not.")
    .Input("input", "T")
    .Input("paddings", DT_INT32)
    .Input("filter", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .With(PadConvWindow)
    .Shape(PadConvShape);

OP(FusedResizeAndPadConv2D, "Resizes images by bilinear interpolation and applies FusedPadConv2D.")
    .Input("input", "T")
    .Input("size", DT_INT32)
    .Input("paddings", DT_INT32)
    .Input("filter", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT, DT_DOUBLE}))
    .Attr("resize_align_corners", BoolAttr(false))
    .With(PadConvWindow)
    .Shape(PadConvShape);

OP(_FusedConv2D,
   "Applies Conv2D, then the fused_ops. 8-bit types take a bias, a side input and scales of both, "
   "and return round(scale * conv + side_scale * side + bias).")
    .Input("input", "T")
    .Input("filter", "T")
    .Input("args", "TArgs")
    .Input("host_args", "num_host_args*float")
    .Output("output", "T")
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT, DT_DOUBLE, DT_INT8, DT_QINT8}))
    .Attr("TArgs", TypeListAttr(TypeSet{}).Min(1))
    .Attr("num_args", IntAttr().Min(0))
    .Attr("num_host_args", IntAttr(0).Min(0))
    .Attr("strides", IntListAttr())
    .With(AnyPadding)
    .Attr("data_format", OneOf({"NHWC", "NCHW", "NCHW_VECT_C"}, "NHWC"))
    .Attr("filter_format", OneOf({"HWIO", "OIHW", "OIHW_VECT_I"}, "HWIO"))
    .With(Dilations(2))
    .Attr("use_cudnn_on_gpu", BoolAttr(true))
    .With(EpilogueAttrs)
    .KeepsLayout("TensorFlow's optimizer adds it after choosing the layout")
    .Recompute(MultiplyAddsOfConv)
    .Shape(FusedConv2DShape);

OP(_FusedConv3D, "Applies Conv3D, then the fused_ops.")
    .With(FusedArguments)
    .Attr("T", TypeAttr(TypeSet{DT_BFLOAT16, DT_FLOAT, DT_HALF}))
    .Attr("num_args", IntAttr().Min(0))
    .With(StridesAndPadding(3))
    .With(DataFormat(3))
    .With(Dilations(3))
    .Attr("padding_list", IntListAttr({}))
    .With(EpilogueAttrs)
    .KeepsLayout("images have three dimensions of space")
    .Shape(ConvShape);

OP(_FusedDepthwiseConv2dNative, "Applies DepthwiseConv2dNative, then the fused_ops.")
    .With(FusedArguments)
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("num_args", IntAttr().Min(0))
    .Attr("strides", IntListAttr())
    .With(SameOrValid)
    .With(DataFormat(2))
    .With(Dilations(2))
    .With(EpilogueAttrs)
    .KeepsLayout("TensorFlow's optimizer adds it after choosing the layout")
    .Shape(ConvShape);

}  // namespace
}  // namespace sluice
