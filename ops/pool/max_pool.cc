// Ops for max pools over images and volumes, and for pools that also return the positions of the
// greatest elements.
#include "ops/conv/window_attrs.h"
#include "ops/op.h"
#include "ops/pool/pool_shape.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/gradient_nodes.h"
#endif

namespace sluice {
namespace {

#ifndef SLUICE_DEFINITIONS_ONLY
// Returns a gradient function that passes the gradient to those elements of `input` that are
// maxima.
GradientFunction MaxPoolGradient(const char* op) {
  return [=](Backprop& b) {
    b.Into("input", Sibling(b, op, {b.Value("input"), b.Value("output"), b.Of("output")}));
  };
}
// Returns the gradient function of a gradient op, or of the gradient of such an op. These ops are
// linear in `grad`. The gradients with respect to the images are 0, because small changes of the
// images do not change which element is the greatest.
GradientFunction MaxPoolSecondGradient(const char* op) {
  return [=](Backprop& b) {
    Output in = b.Value("orig_input"), out = b.Value("orig_output");
    b.Into("orig_input", ZerosLike(in));
    b.Into("orig_output", ZerosLike(out));
    b.Into("grad", Sibling(b, op, {in, out, b.Of("output")}));
  };
}
#endif

// Declares the arguments of a gradient op.
void MaxPoolGradArguments(OpDefBuilder& b) {
  b.Input("orig_input", "T").Input("orig_output", "T").Input("grad", "T");
}
void SizeInputs(OpDefBuilder& b) {
  b.Input("ksize", DT_INT32).Input("strides", DT_INT32);
  b.KeepsLayout("windows are known in the step only");
}

AttrDef MaxPoolTypes() {
  return TypeAttr(FloatTypes() | SignedIntTypes() | TypeSet{DT_UINT8, DT_UINT16, DT_QINT8},
                  DT_FLOAT);
}
AttrDef MaxPoolFormats() { return OneOf({"NHWC", "NCHW", "NCHW_VECT_C"}, "NHWC"); }
AttrDef FloatsOf32Bits() { return TypeAttr(TypeSet{DT_HALF, DT_BFLOAT16, DT_FLOAT}, DT_FLOAT); }

// Returns the image roles of a gradient op. Its input `grad` must have the size of input kGradIsAs.
template <int kGradIsAs>
std::optional<ImageRoles> ImagesOfMaxPoolGrad(const Node& node) {
  if (!Pools(node, node.input(0).shape(), node.input(1).shape()) ||
      !HaveOneSize(node.input(2).shape(), node.input(kGradIsAs).shape())) {
    return std::nullopt;
  }
  return ImageRoles{.images = {0, 1, 2}, .transposes_inside = true};
}

OP(MaxPool,
   "Returns the greatest element of each window. A window over channels (ksize[3] > 1) must not "
   "extend in space.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", MaxPoolTypes())
    .With(SizesAndStrides(2))
    .With(AnyPadding)
    .Attr("data_format", MaxPoolFormats())
    .Images(ImagesOfPool)
    .Recompute(RecomputeCost::kElements)
    .Shape(PoolShape) GRADIENT(MaxPoolGradient("MaxPoolGrad"));

OP(MaxPoolGrad,
   "Computes the gradient of MaxPool: each element of grad goes to the first greatest element of "
   "its window.")
    .With(MaxPoolGradArguments)
    .Output("output", "T")
    .With(SizesAndStrides(2))
    .With(AnyPadding)
    .With(DataFormat(2))
    .Attr("T", TypeAttr(RealTypes(), DT_FLOAT))
    .Images(ImagesOfMaxPoolGrad<1>)
    .Shape(ImagesOfInput) GRADIENT(MaxPoolSecondGradient("MaxPoolGradGrad"));

OP(MaxPoolGradGrad,
   "Computes the second gradient of MaxPool: the element of grad at the first greatest element of "
   "each window.")
    .With(MaxPoolGradArguments)
    .Output("output", "T")
    .With(PoolWindow(2))
    .Attr("T", TypeAttr(RealTypes()))
    .Images(ImagesOfMaxPoolGrad<0>)
    .Shape(PoolShape) GRADIENT(MaxPoolSecondGradient("MaxPoolGrad"));

OP(MaxPoolGradGradV2, "MaxPoolGradGrad with ksize and strides as tensors.")
    .With(MaxPoolGradArguments)
    .With(SizeInputs)
    .Output("output", "T")
    .With(SameOrValid)
    .With(DataFormat(2))
    .Attr("T", TypeAttr(RealTypes()))
    .Shape([](ShapeContext& c) { return PoolShapeOfInputs(c, 3); });

OP(MaxPoolGradV2, "MaxPoolGrad with ksize and strides as tensors.")
    .With(MaxPoolGradArguments)
    .With(SizeInputs)
    .Output("output", "T")
    .With(SameOrValid)
    .With(DataFormat(2))
    .Attr("T", TypeAttr(RealTypes(), DT_FLOAT))
    .Shape(ImagesOfInput) GRADIENT([](Backprop& b) {
      Output in = b.Value("orig_input"), out = b.Value("orig_output");
      b.Into("orig_input", ZerosLike(in));
      b.Into("orig_output", ZerosLike(out));
      b.Into("grad", Sibling(b, "MaxPoolGradGradV2",
                             {in, out, b.Of("output"), b.Value("ksize"), b.Value("strides")}));
    });

OP(MaxPoolV2, "MaxPool with ksize and strides as tensors.")
    .Input("input", "T")
    .With(SizeInputs)
    .Output("output", "T")
    .Attr("T", MaxPoolTypes())
    .With(SameOrValid)
    .Attr("data_format", MaxPoolFormats())
    .Shape([](ShapeContext& c) { return PoolShapeOfInputs(c, 1); }) GRADIENT([](Backprop& b) {
      b.Into("input", Sibling(b, "MaxPoolGradV2",
                              {b.Value("input"), b.Value("output"), b.Of("output"),
                               b.Value("ksize"), b.Value("strides")}));
    });

OP(QuantizedMaxPool, "MaxPool of quantized images. The range stays the same.")
    .With(QuantizedPool)
    .Recompute(RecomputeCost::kElements)
    .Shape(QuantizedPoolShape);

OP(MaxPool3D, "Returns the greatest element of each window.")
    .Input("input", "T")
    .Output("output", "T")
    .With(PoolWindow(3))
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_BFLOAT16, DT_FLOAT}))
    .KeepsLayout("images have three dimensions of space")
    .Shape(PoolShape) GRADIENT(MaxPoolGradient("MaxPool3DGrad"));

OP(MaxPool3DGrad,
   "Computes the gradient of MaxPool3D: each element of grad goes to all elements of its window "
   "that are equal to the output.")
    .Input("orig_input", "TInput")
    .Input("orig_output", "TInput")
    .Input("grad", "T")
    .Output("output", "T")
    .With(PoolWindow(3))
    .Attr("T", FloatsOf32Bits())
    .Attr("TInput", FloatsOf32Bits())
    .KeepsLayout("images have three dimensions of space")
    .Shape(ImagesOfInput) GRADIENT(MaxPoolSecondGradient("MaxPool3DGradGrad"));

OP(MaxPool3DGradGrad,
   "Computes the second gradient of MaxPool3D: the element of grad at the first element of each "
   "window that is equal to the output.")
    .With(MaxPoolGradArguments)
    .Output("output", "T")
    .With(PoolWindow(3))
    .Attr("T", TypeAttr(RealTypes()))
    .KeepsLayout("images have three dimensions of space")
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.input(0).MergeWith(c.input(2)).status());
      return PoolShape(c);
    }) GRADIENT(MaxPoolSecondGradient("MaxPool3DGrad"));

OP(MaxPoolGradWithArgmax,
   "Computes the gradient of MaxPoolWithArgmax: each element of grad goes to the position in "
   "argmax.")
    .Input("input", "T")
    .Input("grad", "T")
    .Input("argmax", "Targmax")
    .Output("output", "T")
    .With(SizesAndStrides(2))
    .With(SameOrValid)
    .Attr("include_batch_in_index", BoolAttr(false))
    .Attr("Targmax", TypeAttr(IndexTypes()))
    .Attr("T", TypeAttr(RealTypes()))
    .Shape(ImagesOfInput);

OP(MaxPoolWithArgmax,
   "Returns the greatest element of each window and its position: (y * width + x) * channels + "
   "channel. With include_batch_in_index, positions count over the whole batch.")
    .Input("input", "T")
    .Output("output", "T")
    .Output("argmax", "Targmax")
    .With(SizesAndStrides(2))
    .Attr("Targmax", TypeAttr(IndexTypes(), DT_INT64))
    .With(SameOrValid)
    .Attr("include_batch_in_index", BoolAttr(false))
    .Attr("T", TypeAttr(RealTypes()))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape out, PooledShape(c));
      return c.SetOutputs(out);
    }) GRADIENT([](Backprop& b) {
      b.Into("input", Sibling(b, "MaxPoolGradWithArgmax",
                              {b.Value("input"), b.Of("output"), b.Value("argmax")}));
    });

}  // namespace
}  // namespace sluice
