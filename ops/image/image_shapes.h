// Shapes that ops on images share.
#ifndef SLUICE_OPS_IMAGE_IMAGE_SHAPES_H_
#define SLUICE_OPS_IMAGE_IMAGE_SHAPES_H_

#include "ops/op.h"

namespace sluice {

// The batch and channels of input 0 with the height and width that input `size_input` gives.
inline absl::Status SizedImages(ShapeContext& c, int size_input) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape images, c.WithRank(0, 4));
  SLUICE_ASSIGN_OR_RETURN(PartialShape size, c.WithRank(size_input, 1));
  SLUICE_RETURN_IF_ERROR(MergeDim(size.dim(0), 2).status());
  std::optional<std::vector<int64_t>> values = c.InputInts(size_input);
  const bool known = values && values->size() == 2;
  return c.SetOutput(
      0, {images.dim(0), known ? (*values)[0] : -1, known ? (*values)[1] : -1, images.dim(3)});
}

// Of resizing to input 1, and of its gradient.
inline absl::Status ResizedShape(ShapeContext& c) { return SizedImages(c, 1); }
inline absl::Status ShapeOfOriginal(ShapeContext& c) { return c.SetOutput(0, c.input(1)); }

}  // namespace sluice

#endif  // SLUICE_OPS_IMAGE_IMAGE_SHAPES_H_
