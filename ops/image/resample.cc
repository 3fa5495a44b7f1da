// Ops that resize images by cubic interpolation or by areas, or scale and translate them.
#include "graph/infer/expect_size.h"
#include "ops/image/mixins.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/image/resample_builders.h"
#endif

namespace sluice {
namespace {

void ScalesAndTranslates(OpDefBuilder& op) {
  op.With(Inputs({"scale", "translation"}, DT_FLOAT))
      .Attr("kernel_type", StringAttr("lanczos3"))
      .Attr("antialias", BoolAttr(true));
}

OP(ResizeArea, "Resizes images. Each pixel of the result is the mean of the area that it covers.")
    .With(ResizesImages)
    .Attr("align_corners", BoolAttr(false));

OP(ResizeBicubic, "Resizes images by cubic interpolation between 16 pixels.")
    .With(ResizesImages)
    .With(AlignmentAttrs) GRADIENT([](Backprop& b) {
      const DataType type = b.Value("images").dtype();
      if (type != DT_FLOAT && type != DT_DOUBLE) return;
      b.Into("images", ResizeBicubicGrad(b.Of("resized_images"), b.Value("images"),
                                         AlignmentOf<ResizeBicubicGradAttrs>(b)));
    });

OP(ResizeBicubicGrad, "Computes the gradient of ResizeBicubic with respect to the images.")
    .Input("grads", DT_FLOAT)
    .With(ResizeGradient)
    .Attr("T", TypeAttr(TypeSet{DT_FLOAT, DT_DOUBLE}))
    .With(AlignmentAttrs);

OP(ScaleAndTranslate,
   "Returns images of height and width `size`, in which pixel p of an image moves to p * scale + "
   "translation. kernel_type names the filter: lanczos1, lanczos3, lanczos5, gaussian, box, "
   "triangle, keyscubic or mitchellcubic. `antialias` widens the filter if the result is smaller.")
    .With(ResizesImages)
    .With(ScalesAndTranslates)
    .Shape([](ShapeContext& c) -> absl::Status {
      for (int i : {2, 3}) {
        SLUICE_ASSIGN_OR_RETURN(PartialShape pair, c.WithRank(i, 1));
        SLUICE_RETURN_IF_ERROR(ExpectSize(pair.dim(0), 2));
      }
      return ResizedShape(c);
    }) GRADIENT([](Backprop& b) {
      const DataType type = b.Value("images").dtype();
      if (!IsFloating(type)) return;
      auto as = [](Output x, DataType to) { return x.dtype() == to ? x : Cast(x, to); };
      Output grad = ScaleAndTranslateGrad(b.Of("resized_images"), as(b.Value("images"), DT_FLOAT),
                                          b.Value("scale"), b.Value("translation"),
                                          {.kernel_type = b.attr<std::string>("kernel_type"),
                                           .antialias = b.attr<bool>("antialias")});
      b.Into("images", as(grad, type));
    });

OP(ScaleAndTranslateGrad, "Computes the gradient of ScaleAndTranslate with respect to the images.")
    .Input("grads", "T")
    .With(ResizeGradient)
    .Attr("T", TypeAttr(DT_FLOAT))
    .With(ScalesAndTranslates);

}  // namespace
}  // namespace sluice
