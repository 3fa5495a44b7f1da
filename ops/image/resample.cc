// Images resized by cubic interpolation, by areas, and under scales and translations of their own.
#include "ops/image/image_shapes.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/image/resample_builders.h"
#endif

namespace sluice {
namespace {

OP(ResizeArea, "Images resized so that a pixel is the mean of the area that it covers.")
    .Input("images", "T")
    .Input("size", DT_INT32)
    .Output("resized_images", DT_FLOAT)
    .Attr("T", TypeAttr(TypeSet{DT_INT8, DT_UINT8, DT_INT16, DT_UINT16, DT_INT32, DT_INT64, DT_HALF,
                                DT_FLOAT, DT_DOUBLE, DT_BFLOAT16}))
    .Attr("align_corners", BoolAttr(false))
    .Shape(ResizedShape);

OP(ResizeBicubic, "Images resized by cubic interpolation between 16 pixels.")
    .Input("images", "T")
    .Input("size", DT_INT32)
    .Output("resized_images", DT_FLOAT)
    .Attr("T", TypeAttr(TypeSet{DT_INT8, DT_UINT8, DT_INT16, DT_UINT16, DT_INT32, DT_INT64, DT_HALF,
                                DT_FLOAT, DT_DOUBLE, DT_BFLOAT16}))
    .Attr("align_corners", BoolAttr(false))
    .Attr("half_pixel_centers", BoolAttr(false))
    .Shape(ResizedShape) GRADIENT([](Backprop& b) {
      const DataType type = b.Value("images").dtype();
      if (type != DT_FLOAT && type != DT_DOUBLE) return;
      b.Into("images",
             ResizeBicubicGrad(b.Of("resized_images"), b.Value("images"),
                               {.align_corners = b.attr<bool>("align_corners"),
                                .half_pixel_centers = b.attr<bool>("half_pixel_centers")}));
    });

OP(ResizeBicubicGrad, "Gradient of ResizeBicubic by the images.")
    .Input("grads", DT_FLOAT)
    .Input("original_image", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(TypeSet{DT_FLOAT, DT_DOUBLE}))
    .Attr("align_corners", BoolAttr(false))
    .Attr("half_pixel_centers", BoolAttr(false))
    .Shape(ShapeOfOriginal);

OP(ScaleAndTranslate,
   "Images of height and width `size`: the pixel at p of an image moves to p * scale + "
   "translation. kernel_type names the filter (lanczos1, lanczos3, lanczos5, gaussian, box, "
   "triangle, keyscubic, mitchellcubic); it grows with the pixels of a smaller result if "
   "`antialias`.")
    .Input("images", "T")
    .Input("size", DT_INT32)
    .Input("scale", DT_FLOAT)
    .Input("translation", DT_FLOAT)
    .Output("resized_images", DT_FLOAT)
    .Attr("T", TypeAttr(TypeSet{DT_INT8, DT_UINT8, DT_INT16, DT_UINT16, DT_INT32, DT_INT64,
                                DT_BFLOAT16, DT_HALF, DT_FLOAT, DT_DOUBLE}))
    .Attr("kernel_type", StringAttr("lanczos3"))
    .Attr("antialias", BoolAttr(true))
    .Shape([](ShapeContext& c) -> absl::Status {
      for (int i : {2, 3}) {
        SLUICE_ASSIGN_OR_RETURN(PartialShape pair, c.WithRank(i, 1));
        SLUICE_RETURN_IF_ERROR(MergeDim(pair.dim(0), 2).status());
      }
      return ResizedShape(c);
    }) GRADIENT([](Backprop& b) {
      const DataType type = b.Value("images").dtype();
      if (!IsFloating(type)) return;
      auto as = [](Output x, DataType to) { return x.dtype() == to ? x : Cast(x, to); };
      Output by_images =
          ScaleAndTranslateGrad(b.Of("resized_images"), as(b.Value("images"), DT_FLOAT),
                                b.Value("scale"), b.Value("translation"),
                                {.kernel_type = b.attr<std::string>("kernel_type"),
                                 .antialias = b.attr<bool>("antialias")});
      b.Into("images", as(by_images, type));
    });

OP(ScaleAndTranslateGrad, "Gradient of ScaleAndTranslate by the images.")
    .Input("grads", "T")
    .Input("original_image", "T")
    .Input("scale", DT_FLOAT)
    .Input("translation", DT_FLOAT)
    .Output("output", "T")
    .Attr("T", TypeAttr(DT_FLOAT))
    .Attr("kernel_type", StringAttr("lanczos3"))
    .Attr("antialias", BoolAttr(true))
    .Shape(ShapeOfOriginal);

}  // namespace
}  // namespace sluice
