// Segment reductions over the rows of a table that `indices` names, without gathering them first;
// and their gradients.

#include "ops/op.h"
#include "ops/reduce/segment_shape.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/reduce/sparse_segment_builders.h"
#include "ops/shape_nodes.h"
#endif

namespace sluice {
namespace {

absl::Status CheckPairs(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape indices, c.WithRank(1, 1));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape ids, c.WithRank(2, 1));
  SLUICE_RETURN_IF_ERROR(indices.MergeWith(ids).status());
  return c.WithRankAtLeast(0, 1).status();
}

absl::Status SparseSegmentShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(CheckPairs(c));
  return c.SetOutput(0, RowsOf(c.input(0), PartialShape::kUnknown));
}

absl::Status WithNumSegmentsShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(CheckPairs(c));
  SLUICE_RETURN_IF_ERROR(c.WithRank(3, 0).status());
  SLUICE_ASSIGN_OR_RETURN(const int64_t count, SegmentCount(c, 3));
  return c.SetOutput(0, RowsOf(c.input(0), count));
}

absl::Status GradShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(CheckPairs(c));
  SLUICE_RETURN_IF_ERROR(c.WithRank(3, 0).status());
  SLUICE_ASSIGN_OR_RETURN(const int64_t rows, SegmentCount(c, 3));
  return c.SetOutput(0, RowsOf(c.input(0), rows));
}

absl::Status GradV2Shape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(CheckPairs(c));
  SLUICE_RETURN_IF_ERROR(c.WithRank(3, 0).status());
  SLUICE_RETURN_IF_ERROR(c.SetOutput(1, PartialShape::Vector()));
  return c.SetOutput(0, RowsOf(c.input(0), PartialShape::kUnknown));
}

#ifndef SLUICE_DEFINITIONS_ONLY

// Dense rows, or with attribute sparse_gradient only those that were used.
template <typename Dense, typename Sparse>
void SparseSegmentGradient(Backprop& b, Dense dense, Sparse sparse) {
  Output data = b.Value("data"), indices = b.Value("indices"), ids = b.Value("segment_ids");
  Output shape = ShapeNode(data);
  Output rows = ElementAt(shape, 0);
  if (b.attr<bool>("sparse_gradient")) {
    auto grad = sparse(b.Of(0), indices, ids, rows);
    b.Into("data", IndexedSlices{grad.output, grad.sorted_unique_indices, shape});
  } else {
    b.Into("data", dense(b.Of(0), indices, ids, rows));
  }
}

#define SLUICE_SPARSE_SEGMENT_GRADIENT(kind)              \
  void kind##Gradient(Backprop& b) {                      \
    SparseSegmentGradient(                                \
        b,                                                \
        [](Output g, Output i, Output s, Output n) {      \
          return SparseSegment##kind##Grad(g, i, s, n);   \
        },                                                \
        [](Output g, Output i, Output s, Output n) {      \
          return SparseSegment##kind##GradV2(g, i, s, n); \
        });                                               \
  }
SLUICE_SPARSE_SEGMENT_GRADIENT(Sum)
SLUICE_SPARSE_SEGMENT_GRADIENT(Mean)
SLUICE_SPARSE_SEGMENT_GRADIENT(SqrtN)
#undef SLUICE_SPARSE_SEGMENT_GRADIENT

#endif  // SLUICE_DEFINITIONS_ONLY

OP(SparseSegmentMean, "The mean of the rows data[indices] of each segment; `segment_ids` ascend.")
    .Input("data", "T")
    .Input("indices", "Tidx")
    .Input("segment_ids", "Tsegmentids")
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("Tidx", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("Tsegmentids", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("sparse_gradient", BoolAttr(false))
    .Shape(SparseSegmentShape) GRADIENT(MeanGradient);

OP(SparseSegmentMeanGrad, "The gradient of SparseSegmentMean, for data of `output_dim0` rows.")
    .Input("grad", "T")
    .Input("indices", "Tidx")
    .Input("segment_ids", "Tsegmentids")
    .Input("output_dim0", DT_INT32)
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("Tidx", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("Tsegmentids", TypeAttr(IndexTypes(), DT_INT32))
    .Shape(GradShape);

OP(SparseSegmentMeanGradV2,
   "The rows of the gradient of SparseSegmentMean that are used, and which rows they are.")
    .Input("grad", "T")
    .Input("indices", "Tidx")
    .Input("segment_ids", "Tsegmentids")
    .Input("dense_output_dim0", DT_INT32)
    .Output("output", "T")
    .Output("sorted_unique_indices", "Tidx")
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("Tidx", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("Tsegmentids", TypeAttr(IndexTypes(), DT_INT32))
    .Shape(GradV2Shape);

OP(SparseSegmentMeanWithNumSegments,
   "SparseSegmentMean of a given number of segments; those without rows are 0.")
    .Input("data", "T")
    .Input("indices", "Tidx")
    .Input("segment_ids", "Tsegmentids")
    .Input("num_segments", "Tnumsegments")
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("Tidx", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("Tnumsegments", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("Tsegmentids", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("sparse_gradient", BoolAttr(false))
    .Shape(WithNumSegmentsShape) GRADIENT(MeanGradient);

OP(SparseSegmentSqrtN,
   "The sum, divided by the square root of their number, of the rows data[indices] of each "
   "segment; `segment_ids` ascend.")
    .Input("data", "T")
    .Input("indices", "Tidx")
    .Input("segment_ids", "Tsegmentids")
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("Tidx", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("Tsegmentids", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("sparse_gradient", BoolAttr(false))
    .Shape(SparseSegmentShape) GRADIENT(SqrtNGradient);

OP(SparseSegmentSqrtNGrad, "The gradient of SparseSegmentSqrtN, for data of `output_dim0` rows.")
    .Input("grad", "T")
    .Input("indices", "Tidx")
    .Input("segment_ids", "Tsegmentids")
    .Input("output_dim0", DT_INT32)
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("Tidx", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("Tsegmentids", TypeAttr(IndexTypes(), DT_INT32))
    .Shape(GradShape);

OP(SparseSegmentSqrtNGradV2,
   "The rows of the gradient of SparseSegmentSqrtN that are used, and which rows they are.")
    .Input("grad", "T")
    .Input("indices", "Tidx")
    .Input("segment_ids", "Tsegmentids")
    .Input("dense_output_dim0", DT_INT32)
    .Output("output", "T")
    .Output("sorted_unique_indices", "Tidx")
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("Tidx", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("Tsegmentids", TypeAttr(IndexTypes(), DT_INT32))
    .Shape(GradV2Shape);

OP(SparseSegmentSqrtNWithNumSegments,
   "SparseSegmentSqrtN of a given number of segments; those without rows are 0.")
    .Input("data", "T")
    .Input("indices", "Tidx")
    .Input("segment_ids", "Tsegmentids")
    .Input("num_segments", "Tnumsegments")
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("Tidx", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("Tnumsegments", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("Tsegmentids", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("sparse_gradient", BoolAttr(false))
    .Shape(WithNumSegmentsShape) GRADIENT(SqrtNGradient);

OP(SparseSegmentSum, "The sum of the rows data[indices] of each segment; `segment_ids` ascend.")
    .Input("data", "T")
    .Input("indices", "Tidx")
    .Input("segment_ids", "Tsegmentids")
    .Output("output", "T")
    .Attr("T", TypeAttr(RealTypes()))
    .Attr("Tidx", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("Tsegmentids", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("sparse_gradient", BoolAttr(false))
    .Shape(SparseSegmentShape) GRADIENT(SumGradient);

OP(SparseSegmentSumGrad, "The gradient of SparseSegmentSum, for data of `output_dim0` rows.")
    .Input("grad", "T")
    .Input("indices", "Tidx")
    .Input("segment_ids", "Tsegmentids")
    .Input("output_dim0", DT_INT32)
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("Tidx", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("Tsegmentids", TypeAttr(IndexTypes(), DT_INT32))
    .Shape(GradShape);

OP(SparseSegmentSumGradV2,
   "The rows of the gradient of SparseSegmentSum that are used, and which rows they are.")
    .Input("grad", "T")
    .Input("indices", "Tidx")
    .Input("segment_ids", "Tsegmentids")
    .Input("dense_output_dim0", DT_INT32)
    .Output("output", "T")
    .Output("sorted_unique_indices", "Tidx")
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("Tidx", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("Tsegmentids", TypeAttr(IndexTypes(), DT_INT32))
    .Shape(GradV2Shape);

OP(SparseSegmentSumWithNumSegments,
   "SparseSegmentSum of a given number of segments; those without rows are 0.")
    .Input("data", "T")
    .Input("indices", "Tidx")
    .Input("segment_ids", "Tsegmentids")
    .Input("num_segments", "Tnumsegments")
    .Output("output", "T")
    .Attr("T", TypeAttr(RealTypes()))
    .Attr("Tidx", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("Tnumsegments", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("Tsegmentids", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("sparse_gradient", BoolAttr(false))
    .Shape(WithNumSegmentsShape) GRADIENT(SumGradient);

}  // namespace
}  // namespace sluice
