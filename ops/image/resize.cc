// Images [batch, height, width, channels] at another size, whole or boxes of them.
#include <algorithm>

#include "ops/image/image_shapes.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/image/resize_builders.h"
#endif

namespace sluice {
namespace {

#ifndef SLUICE_DEFINITIONS_ONLY
// Height and width of images, a constant where they are known.
Output SpaceOf(Output images) {
  const PartialShape& s = images.shape();
  if (s.rank_known() && s.dim(1) >= 0 && s.dim(2) >= 0) {
    return Constant(*images.graph(),
                    {static_cast<int32_t>(s.dim(1)), static_cast<int32_t>(s.dim(2))});
  }
  return Slice(ShapeOf(images), std::vector<int64_t>{1}, std::vector<int64_t>{2});
}
#endif

OP(CropAndResize,
   "The boxes (y1, x1, y2, x2 in units of the image's size, of image box_ind) resized to "
   "crop_size; extrapolation_value outside the image.")
    .Input("image", "T")
    .Input("boxes", DT_FLOAT)
    .Input("box_ind", DT_INT32)
    .Input("crop_size", DT_INT32)
    .Output("crops", DT_FLOAT)
    .Attr("T", TypeAttr(TypeSet{DT_UINT8, DT_UINT16, DT_INT8, DT_INT16, DT_INT32, DT_INT64, DT_HALF,
                                DT_FLOAT, DT_DOUBLE}))
    .Attr("method", OneOf({"bilinear", "nearest"}, "bilinear"))
    .Attr("extrapolation_value", FloatAttr(0.0f))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape images, c.WithRank(0, 4));
      SLUICE_ASSIGN_OR_RETURN(PartialShape boxes, c.WithRank(1, 2));
      SLUICE_ASSIGN_OR_RETURN(PartialShape owners, c.WithRank(2, 1));
      SLUICE_ASSIGN_OR_RETURN(PartialShape size, c.WithRank(3, 1));
      SLUICE_ASSIGN_OR_RETURN(const int64_t count, MergeDim(boxes.dim(0), owners.dim(0)));
      SLUICE_RETURN_IF_ERROR(MergeDim(boxes.dim(1), 4).status());
      SLUICE_RETURN_IF_ERROR(MergeDim(size.dim(0), 2).status());
      std::optional<std::vector<int64_t>> values = c.InputInts(3);
      const bool known = values && values->size() == 2;
      return c.SetOutput(
          0, {count, known ? (*values)[0] : -1, known ? (*values)[1] : -1, images.dim(3)});
    }) GRADIENT([](Backprop& b) {
      Output grad = b.Of("crops"), image = b.Value("image");
      Output boxes = b.Value("boxes"), owners = b.Value("box_ind");
      if (IsFloating(image.dtype()) && image.dtype() != DT_BFLOAT16) {
        b.Into("image", CropAndResizeGradImage(grad, boxes, owners, ShapeOf(image), image.dtype(),
                                               {.method = b.attr<std::string>("method")}));
      }
      b.Into("boxes", CropAndResizeGradBoxes(grad, image, boxes, owners));
    });

OP(CropAndResizeGradBoxes, "Gradient of CropAndResize by the boxes.")
    .Input("grads", DT_FLOAT)
    .Input("image", "T")
    .Input("boxes", DT_FLOAT)
    .Input("box_ind", DT_INT32)
    .Output("output", DT_FLOAT)
    .Attr("T", TypeAttr(TypeSet{DT_UINT8, DT_UINT16, DT_INT8, DT_INT16, DT_INT32, DT_INT64, DT_HALF,
                                DT_FLOAT, DT_DOUBLE}))
    .Attr("method", OneOf({"bilinear"}, "bilinear"))
    .Shape([](ShapeContext& c) { return c.SetOutput(0, c.input(2)); });

OP(CropAndResizeGradImage, "Gradient of CropAndResize by the images, whose shape is image_size.")
    .Input("grads", DT_FLOAT)
    .Input("boxes", DT_FLOAT)
    .Input("box_ind", DT_INT32)
    .Input("image_size", DT_INT32)
    .Output("output", "T")
    .Attr("T", TypeAttr(TypeSet{DT_FLOAT, DT_HALF, DT_DOUBLE}))
    .Attr("method", OneOf({"bilinear", "nearest"}, "bilinear"))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape shape, c.InputAsShape(3));
      SLUICE_ASSIGN_OR_RETURN(shape, WithRank(shape, 4));
      return c.SetOutput(0, shape);
    });

OP(ResizeBilinear, "Images resized by linear interpolation between the four nearest pixels.")
    .Input("images", "T")
    .Input("size", DT_INT32)
    .Output("resized_images", DT_FLOAT)
    .Attr("T", TypeAttr(TypeSet{DT_INT8, DT_UINT8, DT_INT16, DT_UINT16, DT_INT32, DT_INT64,
                                DT_BFLOAT16, DT_HALF, DT_FLOAT, DT_DOUBLE, DT_BFLOAT16}))
    .Attr("align_corners", BoolAttr(false))
    .Attr("half_pixel_centers", BoolAttr(false))
    .Shape(ResizedShape) GRADIENT([](Backprop& b) {
      b.Into("images",
             ResizeBilinearGrad(b.Of("resized_images"), b.Value("images"),
                                {.align_corners = b.attr<bool>("align_corners"),
                                 .half_pixel_centers = b.attr<bool>("half_pixel_centers")}));
    });

OP(ResizeBilinearGrad, "Gradient of ResizeBilinear by the images.")
    .Input("grads", DT_FLOAT)
    .Input("original_image", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("align_corners", BoolAttr(false))
    .Attr("half_pixel_centers", BoolAttr(false))
    .NotDifferentiable()
    .Shape(ShapeOfOriginal);

OP(ResizeNearestNeighbor, "Images resized by taking the nearest pixel.")
    .Input("images", "T")
    .Input("size", DT_INT32)
    .Output("resized_images", "T")
    .Attr("T", TypeAttr(TypeSet{DT_INT8, DT_UINT8, DT_INT16, DT_UINT16, DT_INT32, DT_INT64, DT_HALF,
                                DT_FLOAT, DT_DOUBLE, DT_BFLOAT16}))
    .Attr("align_corners", BoolAttr(false))
    .Attr("half_pixel_centers", BoolAttr(false))
    .Shape(ResizedShape) GRADIENT([](Backprop& b) {
      b.Into("images",
             ResizeNearestNeighborGrad(b.Of("resized_images"), SpaceOf(b.Value("images")),
                                       {.align_corners = b.attr<bool>("align_corners"),
                                        .half_pixel_centers = b.attr<bool>("half_pixel_centers")}));
    });

OP(ResizeNearestNeighborGrad,
   "Gradient of ResizeNearestNeighbor by the images, whose height and width are `size`.")
    .Input("grads", "T")
    .Input("size", DT_INT32)
    .Output("output", "T")
    .Attr("T",
          TypeAttr(TypeSet{DT_UINT8, DT_INT8, DT_INT32, DT_HALF, DT_FLOAT, DT_DOUBLE, DT_BFLOAT16}))
    .Attr("align_corners", BoolAttr(false))
    .Attr("half_pixel_centers", BoolAttr(false))
    .Shape(ResizedShape);

}  // namespace
}  // namespace sluice
