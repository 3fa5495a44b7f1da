// Ops that decode and encode image files.
#include "graph/op/mixins.h"
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status DecodedShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(0, 0).status());
  const auto channels = c.attr<int64_t>("channels");
  SLUICE_INVALID_IF(channels < 0, "channels must be non-negative, got ", channels);
  return c.SetOutput(0, {-1, -1, channels == 0 ? -1 : channels});
}

absl::Status CroppedShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(DecodedShape(c));
  const std::optional<Tensor> window = c.InputValue(1);
  if (!window.has_value() || window->num_elements() != 4) return absl::OkStatus();
  const auto channels = c.attr<int64_t>("channels");
  return c.SetOutput(
      0, {window->data<int32_t>()[2], window->data<int32_t>()[3], channels == 0 ? -1 : channels});
}

void JpegAttrs(OpDefBuilder& op) {
  op.Attr("channels", IntAttr(0))
      .Attr("ratio", IntAttr(1))
      .Attr("fancy_upscaling", BoolAttr(true))
      .Attr("try_recover_truncated", BoolAttr(false))
      .Attr("acceptable_fraction", FloatAttr(1.0f))
      .Attr("dct_method", StringAttr(""));
}

OP(DecodeAndCropJpeg,
   "Decodes a part of a JPEG image. crop_window is [y, x, height, width] of the part.")
    .Input("contents", DT_STRING)
    .Input("crop_window", DT_INT32)
    .Output("image", DT_UINT8)
    .With(JpegAttrs)
    .Shape(CroppedShape);

OP(DecodeBmp, "Decodes an uncompressed BMP image to [height, width, channels].")
    .Input("contents", DT_STRING)
    .Output("image", DT_UINT8)
    .Attr("channels", IntAttr(0))
    .Shape(DecodedShape);

OP(DecodeGif, "Decodes a GIF image to [frames, height, width, 3].")
    .Input("contents", DT_STRING)
    .Output("image", DT_UINT8)
    .Shape([](ShapeContext& c) {
      SLUICE_RETURN_IF_ERROR(c.WithRank(0, 0).status());
      return c.SetOutput(0, {-1, -1, -1, 3});
    });

OP(DecodeImage,
   "Decodes an image of any of the formats BMP, GIF, JPEG and PNG to [height, width, channels], or "
   "a GIF image to [frames, height, width, 3]. Floating-point pixels are between 0 and 1.")
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
   "Decodes a JPEG image to [height, width, channels], `ratio` times smaller. Accepts other "
   "formats too.")
    .Input("contents", DT_STRING)
    .Output("image", DT_UINT8)
    .With(JpegAttrs)
    .Shape(DecodedShape);

OP(DecodePng, "Decodes a PNG image to [height, width, channels]. Accepts other formats too.")
    .Input("contents", DT_STRING)
    .Output("image", "dtype")
    .Attr("channels", IntAttr(0))
    .Attr("dtype", TypeAttr({DT_UINT8, DT_UINT16}, DT_UINT8))
    .Shape(DecodedShape);

OP(EncodeJpeg, "Encodes an image [height, width, channels] as JPEG.")
    .Input("image", DT_UINT8)
    .Output("contents", DT_STRING)
    .Attr("format", OneOf({"", "grayscale", "rgb"}, ""))
    .Attr("quality", IntAttr(95))
    .With(Attrs({"progressive", "optimize_size"}, BoolAttr(false)))
    .Attr("chroma_downsampling", BoolAttr(true))
    .Attr("density_unit", OneOf({"in", "cm"}, "in"))
    .With(Attrs({"x_density", "y_density"}, IntAttr(300)))
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

OP(EncodePng, "Encodes images [\u2026, height, width, channels] as PNG.")
    .Input("image", "T")
    .Output("contents", DT_STRING)
    .Attr("compression", IntAttr(-1))
    .Attr("T", TypeAttr({DT_UINT8, DT_UINT16}, DT_UINT8))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(const PartialShape images, c.WithRankAtLeast(0, 3));
      if (!images.rank_known()) return c.SetOutput(0, PartialShape::UnknownRank());
      return c.SetOutput(0, PartialShape(images.dims().subspan(0, images.rank() - 3)));
    });

OP(ExtractJpegShape, "Returns [height, width, channels] of a JPEG image. Reads only its header.")
    .Input("contents", DT_STRING)
    .Output("image_shape", "output_type")
    .Attr("output_type", TypeAttr(IndexTypes(), DT_INT32))
    .Shape([](ShapeContext& c) {
      SLUICE_RETURN_IF_ERROR(c.WithRank(0, 0).status());
      return c.SetOutput(0, PartialShape::Vector(3));
    });

}  // namespace
}  // namespace sluice
