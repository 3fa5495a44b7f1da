// Boxes in images: choosing among those that overlap, drawing them, and drawing lots for them. A
// box is y1, x1, y2, x2.
#include <algorithm>

#include "graph/tensor/sizes.h"
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status Scalars(ShapeContext& c, int first) {
  for (int i = first; i < c.num_inputs(); ++i) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  return absl::OkStatus();
}

// Inputs: boxes, scores, and scalars. Output 0 holds as many boxes as there are, or as input 2 says
// if it is padded.
absl::Status SuppressionShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape boxes, c.WithRank(0, 2));
  SLUICE_ASSIGN_OR_RETURN(PartialShape scores, c.WithRank(1, 1));
  SLUICE_RETURN_IF_ERROR(Scalars(c, 2));
  SLUICE_RETURN_IF_ERROR(MergeDim(boxes.dim(0), scores.dim(0)).status());
  SLUICE_RETURN_IF_ERROR(MergeDim(boxes.dim(1), 4).status());
  int64_t chosen = -1;
  if (c.has_attr("pad_to_max_output_size") && c.attr<bool>("pad_to_max_output_size")) {
    std::optional<std::vector<int64_t>> most = c.InputInts(2);
    if (most && most->size() == 1) {
      if (most->front() < -1) return InvalidArgument("max_output_size must not be negative");
      chosen = most->front();
    }
  }
  for (int i = 0; i < c.num_outputs(); ++i) {
    const bool is_count = i > 0 && i + 1 == c.num_outputs();
    c.SetOutput(i, is_count ? PartialShape::Scalar() : PartialShape({chosen})).IgnoreError();
  }
  return absl::OkStatus();
}

absl::Status CombinedShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape boxes, c.WithRank(0, 4));
  SLUICE_ASSIGN_OR_RETURN(PartialShape scores, c.WithRank(1, 3));
  SLUICE_RETURN_IF_ERROR(Scalars(c, 2));
  SLUICE_RETURN_IF_ERROR(MergeDim(boxes.dim(3), 4).status());
  SLUICE_RETURN_IF_ERROR(MergeDim(boxes.dim(0), scores.dim(0)).status());
  SLUICE_RETURN_IF_ERROR(MergeDim(boxes.dim(1), scores.dim(1)).status());
  const int64_t own = boxes.dim(2), classes = scores.dim(2);
  if (own >= 0 && classes >= 0 && own != 1 && own != classes) {
    return InvalidArgument("third dimension of boxes must be either 1 or equal to the third ",
                           "dimension of scores, got ", own, " for ", classes, " classes");
  }
  int64_t rows = -1;
  std::optional<std::vector<int64_t>> by_class = c.InputInts(2), total = c.InputInts(3);
  if (total && total->size() == 1 && total->front() != -1) {
    if (total->front() <= 0) return InvalidArgument("max_total_size should be > 0");
    if (!c.attr<bool>("pad_per_class")) {
      rows = total->front();
    } else if (by_class && by_class->size() == 1 && by_class->front() != -1 && classes >= 0) {
      if (by_class->front() <= 0) return InvalidArgument("max_output_size_per_class must be > 0");
      rows = std::min(total->front(), SaturatedProduct(by_class->front(), classes));
    }
  }
  c.SetOutput(0, {boxes.dim(0), rows, 4}).IgnoreError();
  c.SetOutput(1, {boxes.dim(0), rows}).IgnoreError();
  c.SetOutput(2, {boxes.dim(0), rows}).IgnoreError();
  return c.SetOutput(3, {boxes.dim(0)});
}

absl::Status DrawShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape images, c.WithRankAtLeast(0, 3));
  return c.SetOutput(0, images);
}

absl::Status DistortedShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape size, c.WithRank(0, 1));
  SLUICE_RETURN_IF_ERROR(MergeDim(size.dim(0), 3).status());
  SLUICE_ASSIGN_OR_RETURN(PartialShape boxes, c.WithRank(1, 3));
  SLUICE_RETURN_IF_ERROR(MergeDim(boxes.dim(2), 4).status());
  if (c.num_inputs() > 2) SLUICE_RETURN_IF_ERROR(c.WithRank(2, 0).status());
  if (c.num_inputs() > 3) {
    SLUICE_ASSIGN_OR_RETURN(PartialShape seed, c.WithRank(3, 1));
    SLUICE_RETURN_IF_ERROR(MergeDim(seed.dim(0), 2).status());
  }
  c.SetOutput(0, {3}).IgnoreError();
  c.SetOutput(1, {3}).IgnoreError();
  return c.SetOutput(2, {1, 1, 4});
}

OP(CombinedNonMaxSuppression,
   "NonMaxSuppression class by class over a batch, then the best boxes of all classes of each "
   "image.")
    .Input("boxes", DT_FLOAT)
    .Input("scores", DT_FLOAT)
    .Input("max_output_size_per_class", DT_INT32)
    .Input("max_total_size", DT_INT32)
    .Input("iou_threshold", DT_FLOAT)
    .Input("score_threshold", DT_FLOAT)
    .Output("nmsed_boxes", DT_FLOAT)
    .Output("nmsed_scores", DT_FLOAT)
    .Output("nmsed_classes", DT_FLOAT)
    .Output("valid_detections", DT_INT32)
    .Attr("pad_per_class", BoolAttr(false))
    .Attr("clip_boxes", BoolAttr(true))
    .Shape(CombinedShape);

OP(DrawBoundingBoxes,
   "Images [batch, height, width, 1, 3 or 4 channels] with the borders of boxes [batch, boxes, 4] "
   "in ten colours. Positions are in units of the image's size.")
    .Input("images", "T")
    .Input("boxes", DT_FLOAT)
    .Output("output", "T")
    .Attr("T", TypeAttr(TypeSet{DT_FLOAT, DT_HALF}, DT_FLOAT))
    .NotDifferentiable()
    .Shape(DrawShape);

OP(DrawBoundingBoxesV2,
   "DrawBoundingBoxes with given colours, one a row; ten where there are none.")
    .Input("images", "T")
    .Input("boxes", DT_FLOAT)
    .Input("colors", DT_FLOAT)
    .Output("output", "T")
    .Attr("T", TypeAttr(TypeSet{DT_FLOAT, DT_HALF}, DT_FLOAT))
    .Shape(DrawShape);

OP(NonMaxSuppression,
   "Indices of the best boxes by score, without those that overlap a better one by more than "
   "iou_threshold (common area by area of both together).")
    .Input("boxes", DT_FLOAT)
    .Input("scores", DT_FLOAT)
    .Input("max_output_size", DT_INT32)
    .Output("selected_indices", DT_INT32)
    .Attr("iou_threshold", FloatAttr(0.5f))
    .NotDifferentiable()
    .Shape(SuppressionShape);

OP(NonMaxSuppressionV2, "NonMaxSuppression with the threshold as a tensor.")
    .Input("boxes", "T")
    .Input("scores", "T")
    .Input("max_output_size", DT_INT32)
    .Input("iou_threshold", "T_threshold")
    .Output("selected_indices", DT_INT32)
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT}, DT_FLOAT))
    .Attr("T_threshold", TypeAttr(TypeSet{DT_HALF, DT_FLOAT}, DT_FLOAT))
    .NotDifferentiable()
    .Shape(SuppressionShape);

OP(NonMaxSuppressionV3,
   "NonMaxSuppression among boxes whose score is greater than score_threshold.")
    .Input("boxes", "T")
    .Input("scores", "T")
    .Input("max_output_size", DT_INT32)
    .Input("iou_threshold", "T_threshold")
    .Input("score_threshold", "T_threshold")
    .Output("selected_indices", DT_INT32)
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT}, DT_FLOAT))
    .Attr("T_threshold", TypeAttr(TypeSet{DT_HALF, DT_FLOAT}, DT_FLOAT))
    .Shape(SuppressionShape);

OP(NonMaxSuppressionV4,
   "NonMaxSuppressionV3 that also tells how many there are, and fills up with zeros.")
    .Input("boxes", "T")
    .Input("scores", "T")
    .Input("max_output_size", DT_INT32)
    .Input("iou_threshold", "T_threshold")
    .Input("score_threshold", "T_threshold")
    .Output("selected_indices", DT_INT32)
    .Output("valid_outputs", DT_INT32)
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT}, DT_FLOAT))
    .Attr("T_threshold", TypeAttr(TypeSet{DT_HALF, DT_FLOAT}, DT_FLOAT))
    .Attr("pad_to_max_output_size", BoolAttr(false))
    .Shape(SuppressionShape);

OP(NonMaxSuppressionV5,
   "NonMaxSuppressionV4 that also gives the scores. With soft_nms_sigma > 0 boxes lose score by "
   "overlap instead of being dropped.")
    .Input("boxes", "T")
    .Input("scores", "T")
    .Input("max_output_size", DT_INT32)
    .Input("iou_threshold", "T")
    .Input("score_threshold", "T")
    .Input("soft_nms_sigma", "T")
    .Output("selected_indices", DT_INT32)
    .Output("selected_scores", "T")
    .Output("valid_outputs", DT_INT32)
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT}, DT_FLOAT))
    .Attr("pad_to_max_output_size", BoolAttr(false))
    .Shape(SuppressionShape);

OP(NonMaxSuppressionWithOverlaps,
   "NonMaxSuppressionV3 with a matrix of overlaps in place of boxes.")
    .Input("overlaps", DT_FLOAT)
    .Input("scores", DT_FLOAT)
    .Input("max_output_size", DT_INT32)
    .Input("overlap_threshold", DT_FLOAT)
    .Input("score_threshold", DT_FLOAT)
    .Output("selected_indices", DT_INT32)
    .NotDifferentiable()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape overlaps, c.WithRank(0, 2));
      SLUICE_ASSIGN_OR_RETURN(PartialShape scores, c.WithRank(1, 1));
      SLUICE_RETURN_IF_ERROR(Scalars(c, 2));
      SLUICE_RETURN_IF_ERROR(MergeDim(overlaps.dim(0), scores.dim(0)).status());
      SLUICE_RETURN_IF_ERROR(MergeDim(overlaps.dim(0), overlaps.dim(1)).status());
      return c.SetOutput(0, {-1});
    });

OP(SampleDistortedBoundingBox,
   "A random crop of an image: begin and size for Slice, and as a box. It holds at least the part "
   "min_object_covered of one of the boxes; its aspect ratio and its part of the image lie in the "
   "given ranges. The whole image after max_attempts.")
    .Input("image_size", "T")
    .Input("bounding_boxes", DT_FLOAT)
    .Output("begin", "T")
    .Output("size", "T")
    .Output("bboxes", DT_FLOAT)
    .Attr("T", TypeAttr(TypeSet{DT_UINT8, DT_INT8, DT_INT16, DT_INT32, DT_INT64}))
    .Attr("seed", IntAttr(0))
    .Attr("seed2", IntAttr(0))
    .Attr("min_object_covered", FloatAttr(0.1f))
    .Attr("aspect_ratio_range", FloatListAttr({0.75f, 1.33f}))
    .Attr("area_range", FloatListAttr({0.05f, 1.0f}))
    .Attr("max_attempts", IntAttr(100))
    .Attr("use_image_if_no_bounding_boxes", BoolAttr(false))
    .Stateful()
    .NotDifferentiable()
    .Shape(DistortedShape);

OP(SampleDistortedBoundingBoxV2, "SampleDistortedBoundingBox with min_object_covered as a tensor.")
    .Input("image_size", "T")
    .Input("bounding_boxes", DT_FLOAT)
    .Input("min_object_covered", DT_FLOAT)
    .Output("begin", "T")
    .Output("size", "T")
    .Output("bboxes", DT_FLOAT)
    .Attr("T", TypeAttr(TypeSet{DT_UINT8, DT_INT8, DT_INT16, DT_INT32, DT_INT64}))
    .Attr("seed", IntAttr(0))
    .Attr("seed2", IntAttr(0))
    .Attr("aspect_ratio_range", FloatListAttr({0.75f, 1.33f}))
    .Attr("area_range", FloatListAttr({0.05f, 1.0f}))
    .Attr("max_attempts", IntAttr(100))
    .Attr("use_image_if_no_bounding_boxes", BoolAttr(false))
    .Stateful()
    .NotDifferentiable()
    .Shape(DistortedShape);

OP(StatelessSampleDistortedBoundingBox,
   "SampleDistortedBoundingBoxV2 from a seed: the same seed gives the same crop.")
    .Input("image_size", "T")
    .Input("bounding_boxes", DT_FLOAT)
    .Input("min_object_covered", DT_FLOAT)
    .Input("seed", "Tseed")
    .Output("begin", "T")
    .Output("size", "T")
    .Output("bboxes", DT_FLOAT)
    .Attr("T", TypeAttr(TypeSet{DT_UINT8, DT_INT8, DT_INT16, DT_INT32, DT_INT64}))
    .Attr("Tseed", TypeAttr(IndexTypes()))
    .Attr("aspect_ratio_range", FloatListAttr({0.75f, 1.33f}))
    .Attr("area_range", FloatListAttr({0.05f, 1.0f}))
    .Attr("max_attempts", IntAttr(100))
    .Attr("use_image_if_no_bounding_boxes", BoolAttr(false))
    .Shape(DistortedShape);

}  // namespace
}  // namespace sluice
