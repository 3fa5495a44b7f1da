// Ops that resize images [batch, height, width, channels], or boxes of them.

#include "graph/infer/expect_size.h"
#include "ops/image/mixins.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/image/resize_builders.h"
#endif

namespace sluice {
namespace {

#ifndef SLUICE_DEFINITIONS_ONLY
// Returns the height and width of images, as a constant if they are known.
Output ImageSizeOf(Output images) {
  const PartialShape& s = images.shape();
  if (s.rank_known() && s.dim(1) >= 0 && s.dim(2) >= 0) {
    return Constant(*images.graph(),
                    {static_cast<int32_t>(s.dim(1)), static_cast<int32_t>(s.dim(2))});
  }
  return Slice(ShapeOf(images), std::vector<int64_t>{1}, std::vector<int64_t>{2});
}
#endif

void CropsBoxes(OpDefBuilder& op) { op.Input("boxes", DT_FLOAT).Input("box_ind", DT_INT32); }

AttrDef CroppedTypes() {
  return TypeAttr(TypeSet{DT_UINT8, DT_UINT16, DT_INT8, DT_INT16, DT_INT32, DT_INT64, DT_HALF,
                          DT_FLOAT, DT_DOUBLE});
}

OP(CropAndResize,
   "Crops boxes (y1, x1, y2, x2 as fractions of the image's size) and resizes them to crop_size. "
   "Box i belongs to image box_ind[i]. Pixels outside the image are extrapolation_value.")
    .Input("image", "T")
    .With(CropsBoxes)
    .Input("crop_size", DT_INT32)
    .Output("crops", DT_FLOAT)
    .Attr("T", CroppedTypes())
    .Attr("method", OneOf({"bilinear", "nearest"}, "bilinear"))
    .Attr("extrapolation_value", FloatAttr(0.0f))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape images, c.WithRank(0, 4));
      SLUICE_ASSIGN_OR_RETURN(PartialShape boxes, c.WithRank(1, 2));
      SLUICE_ASSIGN_OR_RETURN(PartialShape owners, c.WithRank(2, 1));
      SLUICE_ASSIGN_OR_RETURN(const int64_t count, MergeDim(boxes.dim(0), owners.dim(0)));
      SLUICE_RETURN_IF_ERROR(ExpectSize(boxes.dim(1), 4));
      SLUICE_ASSIGN_OR_RETURN(const PartialShape size, HeightAndWidth(c, 3));
      return c.SetOutput(0, {count, size.dim(0), size.dim(1), images.dim(3)});
    }) GRADIENT([](Backprop& b) {
      Output grad = b.Of("crops"), image = b.Value("image");
      Output boxes = b.Value("boxes"), owners = b.Value("box_ind");
      if (IsFloating(image.dtype()) && image.dtype() != DT_BFLOAT16) {
        b.Into("image", CropAndResizeGradImage(grad, boxes, owners, ShapeOf(image), image.dtype(),
                                               {.method = b.attr<std::string>("method")}));
      }
      b.Into("boxes", CropAndResizeGradBoxes(grad, image, boxes, owners));
    });

OP(CropAndResizeGradBoxes, "Computes the gradient of CropAndResize with respect to the boxes.")
    .Input("grads", DT_FLOAT)
    .Input("image", "T")
    .With(CropsBoxes)
    .Output("output", DT_FLOAT)
    .Attr("T", CroppedTypes())
    .Attr("method", OneOf({"bilinear"}, "bilinear"))
    .Shape([](ShapeContext& c) { return c.SetOutput(0, c.input(2)); });

OP(CropAndResizeGradImage,
   "Computes the gradient of CropAndResize with respect to the images, whose shape is image_size.")
    .Input("grads", DT_FLOAT)
    .With(CropsBoxes)
    .Input("image_size", DT_INT32)
    .Output("output", "T")
    .Attr("T", TypeAttr(TypeSet{DT_FLOAT, DT_HALF, DT_DOUBLE}))
    .Attr("method", OneOf({"bilinear", "nearest"}, "bilinear"))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape shape, c.InputAsShape(3));
      SLUICE_ASSIGN_OR_RETURN(shape, WithRank(shape, 4));
      return c.SetOutput(0, shape);
    });

OP(ResizeBilinear, "Resizes images by linear interpolation between the four nearest pixels.")
    .With(ResizesImages)
    .With(AlignmentAttrs) GRADIENT([](Backprop& b) {
      b.Into("images", ResizeBilinearGrad(b.Of("resized_images"), b.Value("images"),
                                          AlignmentOf<ResizeBilinearGradAttrs>(b)));
    });

OP(ResizeBilinearGrad, "Computes the gradient of ResizeBilinear with respect to the images.")
    .Input("grads", DT_FLOAT)
    .With(ResizeGradient)
    .Attr("T", TypeAttr(FloatTypes()))
    .With(AlignmentAttrs)
    .NotDifferentiable();

OP(ResizeNearestNeighbor, "Resizes images. Each pixel of the result is the nearest pixel.")
    .Input("images", "T")
    .Input("size", DT_INT32)
    .Output("resized_images", "T")
    .Attr("T", TypeAttr(PixelTypes()))
    .With(AlignmentAttrs)
    .Shape(ResizedShape) GRADIENT([](Backprop& b) {
      b.Into("images",
             ResizeNearestNeighborGrad(b.Of("resized_images"), ImageSizeOf(b.Value("images")),
                                       AlignmentOf<ResizeNearestNeighborGradAttrs>(b)));
    });

OP(ResizeNearestNeighborGrad,
   "Computes the gradient of ResizeNearestNeighbor with respect to the images, whose height and "
   "width are `size`.")
    .Input("grads", "T")
    .Input("size", DT_INT32)
    .Output("output", "T")
    .Attr("T",
          TypeAttr(TypeSet{DT_UINT8, DT_INT8, DT_INT32, DT_HALF, DT_FLOAT, DT_DOUBLE, DT_BFLOAT16}))
    .With(AlignmentAttrs)
    .Shape(ResizedShape);

}  // namespace
}  // namespace sluice
