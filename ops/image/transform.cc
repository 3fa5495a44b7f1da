// Ops that project images and extract windows around given positions.
#include "graph/infer/expect_size.h"
#include "ops/image/mixins.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/array/split_builders.h"
#include "ops/image/transform_builders.h"
#endif

namespace sluice {
namespace {

void ExtractsGlimpse(OpDefBuilder& op) {
  op.Input("input", DT_FLOAT)
      .Input("size", DT_INT32)
      .Input("offsets", DT_FLOAT)
      .Output("glimpse", DT_FLOAT)
      .With(Attrs({"centered", "normalized", "uniform_noise"}, BoolAttr(true)))
      .Attr("noise", StringAttr("uniform"))
      .Shape([](ShapeContext& c) -> absl::Status {
        SLUICE_ASSIGN_OR_RETURN(PartialShape images, c.WithRank(0, 4));
        SLUICE_ASSIGN_OR_RETURN(PartialShape offsets, c.WithRank(2, 2));
        SLUICE_RETURN_IF_ERROR(ExpectSize(offsets.dim(1), 2));
        SLUICE_ASSIGN_OR_RETURN(const int64_t batch, MergeDim(images.dim(0), offsets.dim(0)));
        SLUICE_ASSIGN_OR_RETURN(const PartialShape size, HeightAndWidth(c, 1));
        return c.SetOutput(0, {batch, size.dim(0), size.dim(1), images.dim(3)});
      });
}

void ProjectsImages(OpDefBuilder& op) {
  op.Input("images", "dtype")
      .Input("transforms", DT_FLOAT)
      .Input("output_shape", DT_INT32)
      .Output("transformed_images", "dtype")
      .Attr("dtype", TypeAttr(TypeSet{DT_UINT8, DT_INT32, DT_INT64} | FloatTypes()))
      .Attr("interpolation", StringAttr())
      .Attr("fill_mode", StringAttr("CONSTANT"));
}

absl::Status ProjectionShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape transforms, c.WithRank(1, 2));
  SLUICE_RETURN_IF_ERROR(ExpectSize(transforms.dim(1), 8));
  return SizedImages(c, 2);
}

#ifndef SLUICE_DEFINITIONS_ONLY
// Returns the inverse projections. A row holds eight elements of a 3 x 3 matrix whose ninth is 1.
// The inverse is divided by its ninth element, which cancels the determinant, so the adjugate is
// enough.
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

// As in TensorFlow, the gradient is the incoming gradient, projected by the inverse projection.
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
   "Extracts a window around an offset of each image. Pixels outside the image are noise. Offsets "
   "are those of the window's middle, and are halved unless they are normalised and centred, both "
   "unlike ExtractGlimpseV2.")
    .With(ExtractsGlimpse)
    .NotDifferentiable();

OP(ExtractGlimpseV2,
   "Extracts a window of each image. Pixels outside the image are noise. Normalised offsets are "
   "fractions of the image's size, others are pixels. Centred offsets are those of the window's "
   "middle (-1 and 1 are the edges), others are relative to the top left corner.")
    .With(ExtractsGlimpse);

OP(ImageProjectiveTransformV2,
   "Projects images: pixel (x, y) of the result is the image's pixel at "
   "((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k), where k = c0 x + c1 y + 1, for rows "
   "[a0, a1, a2, b0, b1, b2, c0, c1] of `transforms`. fill_mode defines the pixels outside the "
   "image: CONSTANT (0), REFLECT, WRAP or NEAREST.")
    .With(ProjectsImages)
    .Shape(ProjectionShape) GRADIENT(GradientOfProjection);

OP(ImageProjectiveTransformV3,
   "ImageProjectiveTransformV2 with fill_value for pixels outside the image if fill_mode is "
   "CONSTANT.")
    .With(ProjectsImages)
    .Input("fill_value", DT_FLOAT)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.WithRank(3, 0).status());
      return ProjectionShape(c);
    }) GRADIENT(GradientOfProjection);

}  // namespace
}  // namespace sluice
