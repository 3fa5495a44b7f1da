// Mixins and shape functions of ops on images [batch, height, width, channels]. A mixin is a
// function that adds inputs, outputs or attributes to an op's declaration (OpDefBuilder::With).
#ifndef SLUICE_OPS_IMAGE_MIXINS_H_
#define SLUICE_OPS_IMAGE_MIXINS_H_

#include "graph/infer/expect_size.h"
#include "graph/op/mixins.h"
#include "ops/op.h"

namespace sluice {

// The pixel types of the images that can be resized.
constexpr TypeSet PixelTypes() {
  return SignedIntTypes() | FloatTypes() | TypeSet{DT_UINT8, DT_UINT16};
}

// The height and width in input `i`. Unknown if it is not constant.
inline absl::StatusOr<PartialShape> HeightAndWidth(ShapeContext& c, int i) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape size, c.WithRank(i, 1));
  SLUICE_RETURN_IF_ERROR(ExpectSize(size.dim(0), 2));
  const std::optional<std::vector<int64_t>> values = c.InputInts(i);
  if (!values || values->size() != 2) return PartialShape({-1, -1});
  return PartialShape({(*values)[0], (*values)[1]});
}

// Gives output 0 the batch and channels of input 0, and the height and width in input `i`.
inline absl::Status SizedImages(ShapeContext& c, int i) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape images, c.WithRank(0, 4));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape size, HeightAndWidth(c, i));
  return c.SetOutput(0, {images.dim(0), size.dim(0), size.dim(1), images.dim(3)});
}

inline absl::Status ResizedShape(ShapeContext& c) { return SizedImages(c, 1); }

inline void ResizesImages(OpDefBuilder& op) {
  op.Input("images", "T")
      .Input("size", DT_INT32)
      .Output("resized_images", DT_FLOAT)
      .Attr("T", TypeAttr(PixelTypes()))
      .Shape(ResizedShape);
}

// Mixin of ops that compute the gradient of a resize with respect to the images. The output has the
// shape of input 1, the images before the resize.
inline void ResizeGradient(OpDefBuilder& op) {
  op.Input("original_image", "T").Output("output", "T").Shape([](ShapeContext& c) {
    return c.SetOutput(0, c.input(1));
  });
}

// Attributes for how the pixels of the resized image are aligned with those of the original.
inline void AlignmentAttrs(OpDefBuilder& op) {
  op.With(Attrs({"align_corners", "half_pixel_centers"}, BoolAttr(false)));
}

#ifndef SLUICE_DEFINITIONS_ONLY
// Copies the attributes of AlignmentAttrs from the node of `b`, for the builder function of a
// gradient op.
template <typename BuilderAttrs>
BuilderAttrs AlignmentOf(const Backprop& b) {
  return {.align_corners = b.attr<bool>("align_corners"),
          .half_pixel_centers = b.attr<bool>("half_pixel_centers")};
}
#endif

}  // namespace sluice

#endif  // SLUICE_OPS_IMAGE_MIXINS_H_
