// Ops that reduce segments of the rows of a table that `indices` selects, and the ops of their
// gradients. They do not gather the rows first.
#include "ops/op.h"
#include "ops/reduce/segment_shape.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/reduce/sparse_segment_builders.h"
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
  SLUICE_ASSIGN_OR_RETURN(const int64_t count, c.InputAsSize(3));
  return c.SetOutput(0, RowsOf(c.input(0), count));
}

absl::Status GradV2Shape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(CheckPairs(c));
  SLUICE_RETURN_IF_ERROR(c.WithRank(3, 0).status());
  SLUICE_RETURN_IF_ERROR(c.SetOutput(1, PartialShape::Vector()));
  return c.SetOutput(0, RowsOf(c.input(0), PartialShape::kUnknown));
}

// Declares the inputs: row data[indices[i]] belongs to segment segment_ids[i]. `rows` is the name
// of input 0.
void IndexedRows(OpDefBuilder& op, const char* rows) {
  op.Input(rows, "T").Input("indices", "Tidx").Input("segment_ids", "Tsegmentids");
}

struct SparseSegment {
  TypeSet types;
  bool has_num_segments = false;
  void operator()(OpDefBuilder& op) const {
    IndexedRows(op, "data");
    if (has_num_segments) op.Input("num_segments", "Tnumsegments");
    op.Output("output", "T").Attr("T", TypeAttr(types));
    op.Attr("Tidx", TypeAttr(IndexTypes(), DT_INT32));
    if (has_num_segments) op.Attr("Tnumsegments", TypeAttr(IndexTypes(), DT_INT32));
    op.Attr("Tsegmentids", TypeAttr(IndexTypes(), DT_INT32));
    op.Attr("sparse_gradient", BoolAttr(false));
    op.Shape(has_num_segments ? WithNumSegmentsShape : SparseSegmentShape);
  }
};

void GradientTypes(OpDefBuilder& op) {
  op.Attr("T", TypeAttr(FloatTypes())).Attr("Tidx", TypeAttr(IndexTypes(), DT_INT32));
  op.Attr("Tsegmentids", TypeAttr(IndexTypes(), DT_INT32));
}

void DenseGradient(OpDefBuilder& op) {
  IndexedRows(op, "grad");
  op.Input("output_dim0", DT_INT32).Output("output", "T").With(GradientTypes);
  op.Shape(WithNumSegmentsShape);
}

void SlicesGradient(OpDefBuilder& op) {
  IndexedRows(op, "grad");
  op.Input("dense_output_dim0", DT_INT32).Output("output", "T");
  op.Output("sorted_unique_indices", "Tidx").With(GradientTypes).Shape(GradV2Shape);
}

#ifndef SLUICE_DEFINITIONS_ONLY

// Adds a dense gradient or, if sparse_gradient is set, IndexedSlices of the rows that are used.
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

OP(SparseSegmentMean,
   "Computes the mean of the rows data[indices] of each segment. segment_ids must ascend.")
    .With(SparseSegment{FloatTypes()}) GRADIENT(MeanGradient);

OP(SparseSegmentMeanGrad,
   "Computes the gradient of SparseSegmentMean for data of output_dim0 rows.")
    .With(DenseGradient);

OP(SparseSegmentMeanGradV2,
   "Computes the gradient of SparseSegmentMean for the rows that are used, and their indices.")
    .With(SlicesGradient);

OP(SparseSegmentMeanWithNumSegments,
   "SparseSegmentMean with a given number of segments. 0 for segments without rows.")
    .With(SparseSegment{FloatTypes(), true}) GRADIENT(MeanGradient);

OP(SparseSegmentSqrtN,
   "Computes the sum, divided by the square root of their number, of the rows data[indices] of "
   "each segment. segment_ids must ascend.")
    .With(SparseSegment{FloatTypes()}) GRADIENT(SqrtNGradient);

OP(SparseSegmentSqrtNGrad,
   "Computes the gradient of SparseSegmentSqrtN for data of output_dim0 rows.")
    .With(DenseGradient);

OP(SparseSegmentSqrtNGradV2,
   "Computes the gradient of SparseSegmentSqrtN for the rows that are used, and their indices.")
    .With(SlicesGradient);

OP(SparseSegmentSqrtNWithNumSegments,
   "SparseSegmentSqrtN with a given number of segments. 0 for segments without rows.")
    .With(SparseSegment{FloatTypes(), true}) GRADIENT(SqrtNGradient);

OP(SparseSegmentSum,
   "Computes the sum of the rows data[indices] of each segment. segment_ids must ascend.")
    .With(SparseSegment{RealTypes()}) GRADIENT(SumGradient);

OP(SparseSegmentSumGrad, "Computes the gradient of SparseSegmentSum for data of output_dim0 rows.")
    .With(DenseGradient);

OP(SparseSegmentSumGradV2,
   "Computes the gradient of SparseSegmentSum for the rows that are used, and their indices.")
    .With(SlicesGradient);

OP(SparseSegmentSumWithNumSegments,
   "SparseSegmentSum with a given number of segments. 0 for segments without rows.")
    .With(SparseSegment{RealTypes(), true}) GRADIENT(SumGradient);

}  // namespace
}  // namespace sluice
