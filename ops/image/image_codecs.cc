// Images as files, in and out of tensors.
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status DecodedShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(0, 0).status());
  int64_t channels = PartialShape::kUnknown;
  if (c.has_attr("channels") && c.attr<int64_t>("channels") != 0) {
    channels = c.attr<int64_t>("channels");
    if (channels < 0) return InvalidArgument("channels must be non-negative, got ", channels);
  }
  if (c.node().op() != "DecodeAndCropJpeg") return c.SetOutput(0, {-1, -1, channels});
  const std::optional<Tensor> window = c.InputValue(1);
  if (!window.has_value() || window->num_elements() != 4) {
    return c.SetOutput(0, {-1, -1, channels});
  }
  return c.SetOutput(0, {window->data<int32_t>()[2], window->data<int32_t>()[3], channels});
}

absl::Status EncodedPngShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape images, c.WithRankAtLeast(0, 3));
  if (!images.rank_known()) return c.SetOutput(0, PartialShape::UnknownRank());
  return c.SetOutput(0, PartialShape(images.dims().subspan(0, images.rank() - 3)));
}

OP(DecodeAndCropJpeg, "A part of a JPEG image: [y, x, height, width] of crop_window.")
    .Input("contents", DT_STRING)
    .Input("crop_window", DT_INT32)
    .Output("image", DT_UINT8)
    .Attr("channels", IntAttr(0))
    .Attr("ratio", IntAttr(1))
    .Attr("fancy_upscaling", BoolAttr(true))
    .Attr("try_recover_truncated", BoolAttr(false))
    .Attr("acceptable_fraction", FloatAttr(1.0f))
    .Attr("dct_method", StringAttr(""))
    .Shape(DecodedShape);

OP(DecodeBmp, "An uncompressed BMP image as [height, width, channels].")
    .Input("contents", DT_STRING)
    .Output("image", DT_UINT8)
    .Attr("channels", IntAttr(0))
    .Shape(DecodedShape);

OP(DecodeGif, "The frames of a GIF image as [frames, height, width, 3].")
    .Input("contents", DT_STRING)
    .Output("image", DT_UINT8)
    .Shape([](ShapeContext& c) {
      SLUICE_RETURN_IF_ERROR(c.WithRank(0, 0).status());
      return c.SetOutput(0, {-1, -1, -1, 3});
    });

OP(DecodeImage,
   "An image of whatever format the bytes are: [height, width, channels], or with frames in front "
   "for a GIF image. Floating ones go from 0 to 1.")
    .Input("contents", DT_STRING)
    .Output("image", "dtype")
    .Attr("channels", IntAttr(0))
    .Attr("dtype", TypeAttr({DT_UINT8, DT_UINT16, DT_FLOAT}, DT_UINT8))
    .Attr("expand_animations", BoolAttr(true))
    .Shape([](ShapeContext& c) {
      SLUICE_RETURN_IF_ERROR(c.WithRank(0, 0).status());
      if (c.attr<bool>("expand_animations")) return c.SetOutput(0, PartialShape());
      const int64_t channels = c.attr<int64_t>("channels");
      return c.SetOutput(0, {-1, -1, channels == 0 ? -1 : channels});
    });

OP(DecodeJpeg,
   "A JPEG image (other formats are taken too) as [height, width, channels], `ratio` times "
   "smaller.")
    .Input("contents", DT_STRING)
    .Output("image", DT_UINT8)
    .Attr("channels", IntAttr(0))
    .Attr("ratio", IntAttr(1))
    .Attr("fancy_upscaling", BoolAttr(true))
    .Attr("try_recover_truncated", BoolAttr(false))
    .Attr("acceptable_fraction", FloatAttr(1.0f))
    .Attr("dct_method", StringAttr(""))
    .Shape(DecodedShape);

OP(DecodePng, "A PNG image (other formats are taken too) as [height, width, channels].")
    .Input("contents", DT_STRING)
    .Output("image", "dtype")
    .Attr("channels", IntAttr(0))
    .Attr("dtype", TypeAttr({DT_UINT8, DT_UINT16}, DT_UINT8))
    .Shape(DecodedShape);

OP(EncodeJpeg, "[height, width, channels] as a JPEG image.")
    .Input("image", DT_UINT8)
    .Output("contents", DT_STRING)
    .Attr("format", OneOf({"", "grayscale", "rgb"}, ""))
    .Attr("quality", IntAttr(95))
    .Attr("progressive", BoolAttr(false))
    .Attr("optimize_size", BoolAttr(false))
    .Attr("chroma_downsampling", BoolAttr(true))
    .Attr("density_unit", OneOf({"in", "cm"}, "in"))
    .Attr("x_density", IntAttr(300))
    .Attr("y_density", IntAttr(300))
    .Attr("xmp_metadata", StringAttr(""))
    .Shape([](ShapeContext& c) {
      SLUICE_RETURN_IF_ERROR(c.WithRank(0, 3).status());
      return c.SetOutput(0, PartialShape::Scalar());
    });

OP(EncodeJpegVariableQuality, "EncodeJpeg with the quality as an input.")
    .Input("images", DT_UINT8)
    .Input("quality", DT_INT32)
    .Output("contents", DT_STRING)
    .Shape([](ShapeContext& c) {
      SLUICE_RETURN_IF_ERROR(c.WithRank(0, 3).status());
      SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
      return c.SetOutput(0, PartialShape::Scalar());
    });

OP(EncodePng, "[\u2026, height, width, channels] as PNG images.")
    .Input("image", "T")
    .Output("contents", DT_STRING)
    .Attr("compression", IntAttr(-1))
    .Attr("T", TypeAttr({DT_UINT8, DT_UINT16}, DT_UINT8))
    .Shape(EncodedPngShape);

OP(ExtractJpegShape, "[height, width, channels] of a JPEG image, from its header alone.")
    .Input("contents", DT_STRING)
    .Output("image_shape", "output_type")
    .Attr("output_type", TypeAttr(IndexTypes(), DT_INT32))
    .Shape([](ShapeContext& c) {
      SLUICE_RETURN_IF_ERROR(c.WithRank(0, 0).status());
      return c.SetOutput(0, PartialShape::Vector(3));
    });

}  // namespace
}  // namespace sluice
