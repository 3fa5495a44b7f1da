// Pools over images: the greatest or the mean element of each window.
#include <algorithm>

#include "ops/conv/window.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/pool/pool_builders.h"
#endif

namespace sluice {
namespace {

absl::Status CheckLength(const ShapeContext& c, std::string_view attr, size_t length) {
  if (length == 4) return absl::OkStatus();
  return InvalidArgument(c.node().op(), " requires the ", attr,
                         " attribute to contain 4 values, but got: ", length);
}

// The output for windows of `ksize`, -1 where it is not known.
absl::Status PoolShape(ShapeContext& c, const std::vector<int64_t>& ksize,
                       const std::vector<int64_t>& strides, bool pools_channels) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape input, c.WithRank(0, 4));
  const std::string format = c.attr<std::string>("data_format");
  static const std::vector<int64_t> kNoPaddings;
  const auto* paddings = c.node().FindAttr<std::vector<int64_t>>("explicit_paddings");
  SLUICE_ASSIGN_OR_RETURN(
      ImageSliding sliding,
      ImageSlidingOf(c.node().op(), format, strides, {1, 1, 1, 1}, c.attr<std::string>("padding"),
                     paddings ? *paddings : kNoPaddings));
  const ImageLayout layout = ImageLayout::Of(format);
  PartialShape output = PartialShape::UnknownOfRank(4);
  output.set_dim(layout.batch, input.dim(layout.batch));
  auto slide = [&](int d, const Sliding& s) -> absl::Status {
    SLUICE_ASSIGN_OR_RETURN(const int64_t size, WindowOutputs(input.dim(d), ksize[d], s));
    output.set_dim(d, size);
    return absl::OkStatus();
  };
  SLUICE_RETURN_IF_ERROR(slide(layout.height, sliding.height));
  SLUICE_RETURN_IF_ERROR(slide(layout.width, sliding.width));
  output.set_dim(layout.channel, input.dim(layout.channel));
  if (pools_channels) {
    Sliding channels = sliding.height;
    channels.stride = strides[layout.channel];
    channels.before = channels.after = 0;
    SLUICE_RETURN_IF_ERROR(slide(layout.channel, channels));
  }
  return c.SetOutput(0, output);
}

absl::Status PoolShapeOfAttrs(ShapeContext& c, bool pools_channels) {
  const auto& ksize = c.attr<std::vector<int64_t>>("ksize");
  const auto& strides = c.attr<std::vector<int64_t>>("strides");
  SLUICE_RETURN_IF_ERROR(CheckLength(c, "stride", strides.size()));
  SLUICE_RETURN_IF_ERROR(CheckLength(c, "ksize", ksize.size()));
  return PoolShape(c, ksize, strides, pools_channels);
}

// ksize and strides are inputs `first` and the next.
absl::Status PoolShapeOfInputs(ShapeContext& c, int first) {
  for (int i : {first, first + 1}) {
    SLUICE_ASSIGN_OR_RETURN(PartialShape vector, c.WithRank(i, 1));
    SLUICE_RETURN_IF_ERROR(MergeDim(vector.dim(0), 4).status());
  }
  std::optional<std::vector<int64_t>> ksize = c.InputInts(first), strides = c.InputInts(first + 1);
  SLUICE_ASSIGN_OR_RETURN(PartialShape input, c.WithRank(0, 4));
  auto known = [](const auto& v) {
    return v && v->size() == 4 && std::find(v->begin(), v->end(), -1) == v->end();
  };
  if (!known(ksize) || !known(strides)) return c.SetOutput(0, PartialShape::UnknownOfRank(4));
  return PoolShape(c, *ksize, *strides, true);
}

absl::Status ImageShapeOfInput(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape input, c.WithRank(0, 4));
  return c.SetOutput(0, input);
}

#ifndef SLUICE_DEFINITIONS_ONLY
struct PoolAttrs {
  explicit PoolAttrs(Backprop& b)
      : ksize(b.attr<std::vector<int64_t>>("ksize")),
        strides(b.attr<std::vector<int64_t>>("strides")),
        padding(b.attr<std::string>("padding")),
        data_format(b.attr<std::string>("data_format")) {}
  std::vector<int64_t> ksize, strides;
  std::string padding, data_format;
};

// Which element was the greatest does not change with small changes of the images.
void NoGradientOfImages(Backprop& b) {
  b.Into("orig_input", ZerosLike(b.Value("orig_input")));
  b.Into("orig_output", ZerosLike(b.Value("orig_output")));
}
#endif

OP(AvgPool, "The mean of each window. What lies outside the image does not count.")
    .Input("value", "T")
    .Output("output", "T")
    .Attr("ksize", IntListAttr().Min(4))
    .Attr("strides", IntListAttr().Min(4))
    .Attr("padding", OneOf({"SAME", "VALID"}))
    .Attr("data_format", OneOf({"NHWC", "NCHW"}, "NHWC"))
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape([](ShapeContext& c) { return PoolShapeOfAttrs(c, false); }) GRADIENT([](Backprop& b) {
      const PoolAttrs a(b);
      b.Into("value", AvgPoolGrad(ShapeOf(b.Value("value")), b.Of("output"), a.ksize, a.strides,
                                  a.padding, {.data_format = a.data_format}));
    });

OP(AvgPoolGrad, "Gradient of AvgPool by its input, whose shape is orig_input_shape.")
    .Input("orig_input_shape", DT_INT32)
    .Input("grad", "T")
    .Output("output", "T")
    .Attr("ksize", IntListAttr().Min(4))
    .Attr("strides", IntListAttr().Min(4))
    .Attr("padding", OneOf({"SAME", "VALID"}))
    .Attr("data_format", OneOf({"NHWC", "NCHW"}, "NHWC"))
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape shape, c.InputAsShape(0));
      SLUICE_ASSIGN_OR_RETURN(shape, WithRank(shape, 4));
      return c.SetOutput(0, shape);
    }) GRADIENT([](Backprop& b) {
      const PoolAttrs a(b);
      b.Into("grad", AvgPool(b.Of("output"), a.ksize, a.strides, a.padding,
                             {.data_format = a.data_format}));
    });

OP(MaxPool,
   "The greatest element of each window. A window over channels (ksize[3] > 1) may not also extend "
   "in space.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes() | SignedIntTypes() | TypeSet{DT_UINT8, DT_UINT16, DT_QINT8},
                        DT_FLOAT))
    .Attr("ksize", IntListAttr().Min(4))
    .Attr("strides", IntListAttr().Min(4))
    .Attr("padding", OneOf({"SAME", "VALID", "EXPLICIT"}))
    .Attr("explicit_paddings", IntListAttr({}))
    .Attr("data_format", OneOf({"NHWC", "NCHW", "NCHW_VECT_C"}, "NHWC"))
    .Shape([](ShapeContext& c) { return PoolShapeOfAttrs(c, true); }) GRADIENT([](Backprop& b) {
      const PoolAttrs a(b);
      b.Into("input",
             MaxPoolGrad(b.Value("input"), b.Value("output"), b.Of("output"), a.ksize, a.strides,
                         a.padding,
                         {.explicit_paddings = b.attr<std::vector<int64_t>>("explicit_paddings"),
                          .data_format = a.data_format}));
    });

OP(MaxPoolGrad,
   "Gradient of MaxPool: each element of grad goes to the first greatest element of its window.")
    .Input("orig_input", "T")
    .Input("orig_output", "T")
    .Input("grad", "T")
    .Output("output", "T")
    .Attr("ksize", IntListAttr().Min(4))
    .Attr("strides", IntListAttr().Min(4))
    .Attr("padding", OneOf({"SAME", "VALID", "EXPLICIT"}))
    .Attr("explicit_paddings", IntListAttr({}))
    .Attr("data_format", OneOf({"NHWC", "NCHW"}, "NHWC"))
    .Attr("T", TypeAttr(RealTypes(), DT_FLOAT))
    .Shape(ImageShapeOfInput) GRADIENT([](Backprop& b) {
      const PoolAttrs a(b);
      NoGradientOfImages(b);
      b.Into("grad",
             MaxPoolGradGrad(b.Value("orig_input"), b.Value("orig_output"), b.Of("output"), a.ksize,
                             a.strides, a.padding, {.data_format = a.data_format}));
    });

OP(MaxPoolGradGrad,
   "Second gradient of MaxPool: the element of grad at the place of the first greatest element of "
   "each window.")
    .Input("orig_input", "T")
    .Input("orig_output", "T")
    .Input("grad", "T")
    .Output("output", "T")
    .Attr("ksize", IntListAttr().Min(4))
    .Attr("strides", IntListAttr().Min(4))
    .Attr("padding", OneOf({"SAME", "VALID"}))
    .Attr("data_format", OneOf({"NHWC", "NCHW"}, "NHWC"))
    .Attr("T", TypeAttr(RealTypes()))
    .Shape([](ShapeContext& c) { return PoolShapeOfAttrs(c, true); }) GRADIENT([](Backprop& b) {
      const PoolAttrs a(b);
      NoGradientOfImages(b);
      b.Into("grad", MaxPoolGrad(b.Value("orig_input"), b.Value("orig_output"), b.Of("output"),
                                 a.ksize, a.strides, a.padding, {.data_format = a.data_format}));
    });

OP(MaxPoolGradGradV2, "MaxPoolGradGrad with ksize and strides as tensors.")
    .Input("orig_input", "T")
    .Input("orig_output", "T")
    .Input("grad", "T")
    .Input("ksize", DT_INT32)
    .Input("strides", DT_INT32)
    .Output("output", "T")
    .Attr("padding", OneOf({"SAME", "VALID"}))
    .Attr("data_format", OneOf({"NHWC", "NCHW"}, "NHWC"))
    .Attr("T", TypeAttr(RealTypes()))
    .Shape([](ShapeContext& c) { return PoolShapeOfInputs(c, 3); });

OP(MaxPoolGradV2, "MaxPoolGrad with ksize and strides as tensors.")
    .Input("orig_input", "T")
    .Input("orig_output", "T")
    .Input("grad", "T")
    .Input("ksize", DT_INT32)
    .Input("strides", DT_INT32)
    .Output("output", "T")
    .Attr("padding", OneOf({"SAME", "VALID"}))
    .Attr("data_format", OneOf({"NHWC", "NCHW"}, "NHWC"))
    .Attr("T", TypeAttr(RealTypes(), DT_FLOAT))
    .Shape(ImageShapeOfInput) GRADIENT([](Backprop& b) {
      NoGradientOfImages(b);
      b.Into("grad",
             MaxPoolGradGradV2(b.Value("orig_input"), b.Value("orig_output"), b.Of("output"),
                               b.Value("ksize"), b.Value("strides"), b.attr<std::string>("padding"),
                               {.data_format = b.attr<std::string>("data_format")}));
    });

OP(MaxPoolV2, "MaxPool with ksize and strides as tensors.")
    .Input("input", "T")
    .Input("ksize", DT_INT32)
    .Input("strides", DT_INT32)
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes() | SignedIntTypes() | TypeSet{DT_UINT8, DT_UINT16, DT_QINT8},
                        DT_FLOAT))
    .Attr("padding", OneOf({"SAME", "VALID"}))
    .Attr("data_format", OneOf({"NHWC", "NCHW", "NCHW_VECT_C"}, "NHWC"))
    .Shape([](ShapeContext& c) { return PoolShapeOfInputs(c, 1); }) GRADIENT([](Backprop& b) {
      b.Into("input",
             MaxPoolGradV2(b.Value("input"), b.Value("output"), b.Of("output"), b.Value("ksize"),
                           b.Value("strides"), b.attr<std::string>("padding"),
                           {.data_format = b.attr<std::string>("data_format")}));
    });

}  // namespace
}  // namespace sluice
