// Ops that select among overlapping boxes, draw boxes, and sample boxes. The elements of a box are
// y1, x1, y2, x2.
#include <algorithm>

#include "graph/infer/expect_size.h"
#include "graph/op/mixins.h"
#include "graph/tensor/sizes.h"
#include "ops/op.h"

namespace sluice {
namespace {

// Checks that the inputs from `first` on are scalars.
absl::Status Scalars(ShapeContext& c, int first) {
  for (int i = first; i < c.num_inputs(); ++i) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  return absl::OkStatus();
}

// Shape function of ops whose inputs are boxes, scores and scalars. The number of selected boxes is
// known if the result is padded to a constant number, input 2.
absl::Status SuppressionShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape boxes, c.WithRank(0, 2));
  SLUICE_ASSIGN_OR_RETURN(PartialShape scores, c.WithRank(1, 1));
  SLUICE_RETURN_IF_ERROR(Scalars(c, 2));
  SLUICE_RETURN_IF_ERROR(MergeDim(boxes.dim(0), scores.dim(0)).status());
  SLUICE_RETURN_IF_ERROR(ExpectSize(boxes.dim(1), 4));
  int64_t chosen = -1;
  if (c.has_attr("pad_to_max_output_size") && c.attr<bool>("pad_to_max_output_size")) {
    std::optional<std::vector<int64_t>> most = c.InputInts(2);
    if (most && most->size() == 1) {
      SLUICE_INVALID_IF(most->front() < -1, "max_output_size must not be negative");
      chosen = most->front();
    }
  }
  for (int i = 0; i < c.num_outputs(); ++i) {
    const bool is_count = i > 0 && i + 1 == c.num_outputs();
    c.SetOutput(i, is_count ? PartialShape::Scalar() : PartialShape({chosen})).IgnoreError();
  }
  return absl::OkStatus();
}

// Returns the number in input i, or -1 if it is unknown.
int64_t SingleIn(const ShapeContext& c, int i) {
  const std::optional<std::vector<int64_t>> ints = c.InputInts(i);
  return ints && ints->size() == 1 ? ints->front() : -1;
}

// Returns the greatest number of boxes that are kept, or -1 if it is unknown.
absl::StatusOr<int64_t> MostBoxes(const ShapeContext& c, int64_t classes) {
  const int64_t by_class = SingleIn(c, 2), total = SingleIn(c, 3);
  if (total == -1) return -1;
  SLUICE_INVALID_IF(total <= 0, "max_total_size should be > 0");
  if (!c.attr<bool>("pad_per_class")) return total;
  if (by_class == -1 || classes < 0) return -1;
  SLUICE_INVALID_IF(by_class <= 0, "max_output_size_per_class must be > 0");
  return std::min(total, SaturatedProduct(by_class, classes));
}

absl::Status CombinedShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape boxes, c.WithRank(0, 4));
  SLUICE_ASSIGN_OR_RETURN(PartialShape scores, c.WithRank(1, 3));
  SLUICE_RETURN_IF_ERROR(Scalars(c, 2));
  SLUICE_RETURN_IF_ERROR(ExpectSize(boxes.dim(3), 4));
  SLUICE_RETURN_IF_ERROR(MergeDim(boxes.dim(0), scores.dim(0)).status());
  SLUICE_RETURN_IF_ERROR(MergeDim(boxes.dim(1), scores.dim(1)).status());
  const int64_t own = boxes.dim(2), classes = scores.dim(2);
  SLUICE_INVALID_IF(own >= 0 && classes >= 0 && own != 1 && own != classes,
                    "third dimension of boxes must be either 1 or equal to the third ",
                    "dimension of scores, got ", own, " for ", classes, " classes");
  SLUICE_ASSIGN_OR_RETURN(const int64_t rows, MostBoxes(c, classes));
  c.SetOutput(0, {boxes.dim(0), rows, 4}).IgnoreError();
  c.SetOutput(1, {boxes.dim(0), rows}).IgnoreError();
  c.SetOutput(2, {boxes.dim(0), rows}).IgnoreError();
  return c.SetOutput(3, {boxes.dim(0)});
}

void DrawsBoxes(OpDefBuilder& op) {
  op.Input("images", "T")
      .Input("boxes", DT_FLOAT)
      .Output("output", "T")
      .Attr("T", TypeAttr(TypeSet{DT_FLOAT, DT_HALF}, DT_FLOAT))
      .Shape([](ShapeContext& c) -> absl::Status {
        SLUICE_ASSIGN_OR_RETURN(PartialShape images, c.WithRankAtLeast(0, 3));
        return c.SetOutput(0, images);
      });
}

absl::Status DistortedShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape size, c.WithRank(0, 1));
  SLUICE_RETURN_IF_ERROR(ExpectSize(size.dim(0), 3));
  SLUICE_ASSIGN_OR_RETURN(PartialShape boxes, c.WithRank(1, 3));
  SLUICE_RETURN_IF_ERROR(ExpectSize(boxes.dim(2), 4));
  if (c.num_inputs() > 2) SLUICE_RETURN_IF_ERROR(c.WithRank(2, 0).status());
  if (c.num_inputs() > 3) {
    SLUICE_ASSIGN_OR_RETURN(PartialShape seed, c.WithRank(3, 1));
    SLUICE_RETURN_IF_ERROR(ExpectSize(seed.dim(0), 2));
  }
  c.SetOutput(0, {3}).IgnoreError();
  c.SetOutput(1, {3}).IgnoreError();
  return c.SetOutput(2, {1, 1, 4});
}

void DistortsBoxes(OpDefBuilder& op) {
  op.Input("image_size", "T")
      .Input("bounding_boxes", DT_FLOAT)
      .With(Outputs({"begin", "size"}, "T"))
      .Output("bboxes", DT_FLOAT)
      .Attr("T", TypeAttr(SignedIntTypes() | TypeSet{DT_UINT8}))
      .Shape(DistortedShape);
}

void DistortionAttrs(OpDefBuilder& op) {
  op.Attr("aspect_ratio_range", FloatListAttr({0.75f, 1.33f}))
      .Attr("area_range", FloatListAttr({0.05f, 1.0f}))
      .Attr("max_attempts", IntAttr(100))
      .Attr("use_image_if_no_bounding_boxes", BoolAttr(false));
}

void SelectsBoxes(OpDefBuilder& op) {
  op.With(Inputs({"boxes", "scores"}, "T"))
      .Input("max_output_size", DT_INT32)
      .Output("selected_indices", DT_INT32)
      .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT}, DT_FLOAT))
      .Shape(SuppressionShape);
}

void ThresholdType(OpDefBuilder& op) {
  op.Attr("T_threshold", TypeAttr(TypeSet{DT_HALF, DT_FLOAT}, DT_FLOAT));
}

OP(CombinedNonMaxSuppression,
   "Applies NonMaxSuppression to each class of a batch of images, and returns the best boxes of "
   "all classes of each image.")
    .With(Inputs({"boxes", "scores"}, DT_FLOAT))
    .With(Inputs({"max_output_size_per_class", "max_total_size"}, DT_INT32))
    .With(Inputs({"iou_threshold", "score_threshold"}, DT_FLOAT))
    .With(Outputs({"nmsed_boxes", "nmsed_scores", "nmsed_classes"}, DT_FLOAT))
    .Output("valid_detections", DT_INT32)
    .Attr("pad_per_class", BoolAttr(false))
    .Attr("clip_boxes", BoolAttr(true))
    .Shape(CombinedShape);

OP(DrawBoundingBoxes,
   "Draws the borders of boxes [batch, boxes, 4] in ten colours into images [batch, height, width, "
   "1, 3 or 4 channels]. The coordinates are fractions of the image's size.")
    .With(DrawsBoxes)
    .NotDifferentiable();

OP(DrawBoundingBoxesV2,
   "DrawBoundingBoxes with the colours in the rows of `colors`, or the ten colours if it is empty.")
    .With(DrawsBoxes)
    .Input("colors", DT_FLOAT);

OP(NonMaxSuppression,
   "Returns the indices of the boxes with the best scores, without those that overlap a better box "
   "by more than iou_threshold. The overlap is the area of the intersection divided by that of the "
   "union.")
    .With(Inputs({"boxes", "scores"}, DT_FLOAT))
    .Input("max_output_size", DT_INT32)
    .Output("selected_indices", DT_INT32)
    .Attr("iou_threshold", FloatAttr(0.5f))
    .NotDifferentiable()
    .Shape(SuppressionShape);

OP(NonMaxSuppressionV2, "NonMaxSuppression with the threshold as an input.")
    .With(SelectsBoxes)
    .Input("iou_threshold", "T_threshold")
    .With(ThresholdType)
    .NotDifferentiable();

OP(NonMaxSuppressionV3,
   "NonMaxSuppression among the boxes with scores greater than score_threshold.")
    .With(SelectsBoxes)
    .With(Inputs({"iou_threshold", "score_threshold"}, "T_threshold"))
    .With(ThresholdType);

OP(NonMaxSuppressionV4,
   "NonMaxSuppressionV3 that also returns the number of selected boxes, and can pad the indices "
   "with zeros.")
    .With(SelectsBoxes)
    .With(Inputs({"iou_threshold", "score_threshold"}, "T_threshold"))
    .Output("valid_outputs", DT_INT32)
    .With(ThresholdType)
    .Attr("pad_to_max_output_size", BoolAttr(false));

OP(NonMaxSuppressionV5,
   "NonMaxSuppressionV4 that also returns the scores. If soft_nms_sigma > 0, it reduces the scores "
   "of overlapping boxes instead of dropping them.")
    .With(SelectsBoxes)
    .With(Inputs({"iou_threshold", "score_threshold", "soft_nms_sigma"}, "T"))
    .Output("selected_scores", "T")
    .Output("valid_outputs", DT_INT32)
    .Attr("pad_to_max_output_size", BoolAttr(false));

OP(NonMaxSuppressionWithOverlaps, "NonMaxSuppressionV3 with a matrix of overlaps instead of boxes.")
    .With(Inputs({"overlaps", "scores"}, DT_FLOAT))
    .Input("max_output_size", DT_INT32)
    .With(Inputs({"overlap_threshold", "score_threshold"}, DT_FLOAT))
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
   "Returns a random crop of an image, as begin and size for Slice and as a box. The crop contains "
   "at least the fraction min_object_covered of one of the boxes. Its aspect ratio and its "
   "fraction of the image are in the given ranges. Returns the whole image if no crop is found in "
   "max_attempts.")
    .With(DistortsBoxes)
    .With(Attrs({"seed", "seed2"}, IntAttr(0)))
    .Attr("min_object_covered", FloatAttr(0.1f))
    .With(DistortionAttrs)
    .Stateful()
    .NotDifferentiable();

OP(SampleDistortedBoundingBoxV2, "SampleDistortedBoundingBox with min_object_covered as an input.")
    .With(DistortsBoxes)
    .Input("min_object_covered", DT_FLOAT)
    .With(Attrs({"seed", "seed2"}, IntAttr(0)))
    .With(DistortionAttrs)
    .Stateful()
    .NotDifferentiable();

OP(StatelessSampleDistortedBoundingBox,
   "SampleDistortedBoundingBoxV2 with a seed as an input. Equal seeds give equal crops.")
    .With(DistortsBoxes)
    .Input("min_object_covered", DT_FLOAT)
    .Input("seed", "Tseed")
    .Attr("Tseed", TypeAttr(IndexTypes()))
    .With(DistortionAttrs);

}  // namespace
}  // namespace sluice
