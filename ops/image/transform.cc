// Images under projections, and parts of images around given places.
#include "ops/image/image_shapes.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/array/split_builders.h"
#include "ops/image/transform_builders.h"
#endif

namespace sluice {
namespace {

absl::Status GlimpseShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape images, c.WithRank(0, 4));
  SLUICE_ASSIGN_OR_RETURN(PartialShape offsets, c.WithRank(2, 2));
  SLUICE_RETURN_IF_ERROR(MergeDim(offsets.dim(1), 2).status());
  SLUICE_ASSIGN_OR_RETURN(const int64_t batch, MergeDim(images.dim(0), offsets.dim(0)));
  SLUICE_RETURN_IF_ERROR(SizedImages(c, 1));
  std::optional<std::vector<int64_t>> values = c.InputInts(1);
  const bool known = values && values->size() == 2;
  return c.SetOutput(0,
                     {batch, known ? (*values)[0] : -1, known ? (*values)[1] : -1, images.dim(3)});
}

absl::Status ProjectionShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape transforms, c.WithRank(1, 2));
  SLUICE_RETURN_IF_ERROR(MergeDim(transforms.dim(1), 8).status());
  return SizedImages(c, 2);
}

#ifndef SLUICE_DEFINITIONS_ONLY
// The other way round: eight numbers of the inverse of the matrix whose ninth is 1, again divided
// by the ninth. (The determinant falls out, so the adjugate is enough.)
Output InverseOf(Output transforms) {
  const OutputList m = Unpack(transforms, 8, {.axis = 1});
  if (m.size() != 8) return Output();
  Output a = m[0], b = m[1], c = m[2], d = m[3], e = m[4], f = m[5], g = m[6], h = m[7];
  Output last = a * e - b * d;
  OutputList adjugate = {e - f * h, c * h - b,     b * f - c * e, f * g - d,
                         a - c * g, c * d - a * f, d * h - e * g, b * g - a * h};
  OutputList inverse;
  for (Output number : adjugate) inverse.push_back(number / last);
  return Pack(inverse, {.axis = 1});
}

// What TensorFlow takes for the gradient: the incoming one under the inverse projection.
void GradientOfProjection(Backprop& b) {
  Output images = b.Value("images");
  b.Into("images", ImageProjectiveTransformV2(
                       b.Of("transformed_images"), InverseOf(b.Value("transforms")),
                       Slice(ShapeOf(images), std::vector<int64_t>{1}, std::vector<int64_t>{2}),
                       b.attr<std::string>("interpolation"),
                       {.fill_mode = b.attr<std::string>("fill_mode")}));
}
#endif

OP(ExtractGlimpse,
   "A window of each image around its offset; noise where it lies outside the image. Offsets that "
   "are not normalised and centred are halved, and are of the middle; ExtractGlimpseV2 does not do "
   "so.")
    .Input("input", DT_FLOAT)
    .Input("size", DT_INT32)
    .Input("offsets", DT_FLOAT)
    .Output("glimpse", DT_FLOAT)
    .Attr("centered", BoolAttr(true))
    .Attr("normalized", BoolAttr(true))
    .Attr("uniform_noise", BoolAttr(true))
    .Attr("noise", StringAttr("uniform"))
    .NotDifferentiable()
    .Shape(GlimpseShape);

OP(ExtractGlimpseV2,
   "A window of each image; noise where it lies outside the image. Offsets are normalised (in "
   "units of the image's size) or pixels; centred (-1 and 1 are the edges, and the offset is of "
   "the window's middle) or from the top left corner.")
    .Input("input", DT_FLOAT)
    .Input("size", DT_INT32)
    .Input("offsets", DT_FLOAT)
    .Output("glimpse", DT_FLOAT)
    .Attr("centered", BoolAttr(true))
    .Attr("normalized", BoolAttr(true))
    .Attr("uniform_noise", BoolAttr(true))
    .Attr("noise", StringAttr("uniform"))
    .Shape(GlimpseShape);

OP(ImageProjectiveTransformV2,
   "Pixel (x, y) of the result is the image's at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k), "
   "k = c0 x + c1 y + 1, for rows [a0, a1, a2, b0, b1, b2, c0, c1] of transforms. Outside the "
   "image fill_mode rules: CONSTANT (0), REFLECT, WRAP or NEAREST.")
    .Input("images", "dtype")
    .Input("transforms", DT_FLOAT)
    .Input("output_shape", DT_INT32)
    .Output("transformed_images", "dtype")
    .Attr("dtype", TypeAttr(TypeSet{DT_UINT8, DT_INT32, DT_INT64, DT_HALF, DT_BFLOAT16, DT_FLOAT,
                                    DT_DOUBLE}))
    .Attr("interpolation", StringAttr())
    .Attr("fill_mode", StringAttr("CONSTANT"))
    .Shape(ProjectionShape) GRADIENT(GradientOfProjection);

OP(ImageProjectiveTransformV3,
   "ImageProjectiveTransformV2 with the value outside the image for CONSTANT.")
    .Input("images", "dtype")
    .Input("transforms", DT_FLOAT)
    .Input("output_shape", DT_INT32)
    .Input("fill_value", DT_FLOAT)
    .Output("transformed_images", "dtype")
    .Attr("dtype", TypeAttr(TypeSet{DT_UINT8, DT_INT32, DT_INT64, DT_HALF, DT_BFLOAT16, DT_FLOAT,
                                    DT_DOUBLE}))
    .Attr("interpolation", StringAttr())
    .Attr("fill_mode", StringAttr("CONSTANT"))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.WithRank(3, 0).status());
      return ProjectionShape(c);
    }) GRADIENT(GradientOfProjection);

}  // namespace
}  // namespace sluice
