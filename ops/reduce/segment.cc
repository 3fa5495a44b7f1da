// Ops that reduce the rows of each segment. A segment consists of the rows with the same number in
// segment_ids.
//
// Segment ops need ascending segment numbers. UnsortedSegment ops accept them in any order, and
// drop rows whose segment number is negative.
#include "ops/op.h"
#include "ops/reduce/segment_shape.h"

namespace sluice {
namespace {

absl::Status SegmentShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRankAtLeast(0, 1).status());
  SLUICE_RETURN_IF_ERROR(c.WithRank(1, 1).status());
  return c.SetOutput(0, RowsOf(c.input(0), PartialShape::kUnknown));
}

absl::Status UnsortedSegmentShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(2, 0).status());
  SLUICE_ASSIGN_OR_RETURN(const int64_t count, c.InputAsSize(2));
  const PartialShape& data = c.input(0);
  const PartialShape& ids = c.input(1);
  if (!data.rank_known() || !ids.rank_known()) return c.SetOutput(0, PartialShape());
  SLUICE_INVALID_IF(data.rank() < ids.rank(), "Shape must be at least rank ", ids.rank(),
                    " but is rank ", data.rank());
  for (int i = 0; i < ids.rank(); ++i) {
    SLUICE_RETURN_IF_ERROR(MergeDim(data.dim(i), ids.dim(i)).status());
  }
  const PartialShape row(data.dims().subspan(ids.rank()));
  return c.SetOutput(0, PartialShape::Vector(count).Concatenate(row));
}

struct SortedSegment {
  TypeSet types;
  void operator()(OpDefBuilder& op) const {
    op.Input("data", "T").Input("segment_ids", "Tindices").Output("output", "T");
    op.Attr("T", TypeAttr(types)).Attr("Tindices", TypeAttr(IndexTypes())).Shape(SegmentShape);
  }
};

struct UnsortedSegment {
  TypeSet types;
  TypeSet id_types = IndexTypes();
  void operator()(OpDefBuilder& op) const {
    op.Input("data", "T").Input("segment_ids", "Tindices").Input("num_segments", "Tnumsegments");
    op.Output("output", "T").Attr("T", TypeAttr(types)).Attr("Tindices", TypeAttr(id_types));
    op.Attr("Tnumsegments", TypeAttr(IndexTypes(), DT_INT32)).Shape(UnsortedSegmentShape);
  }
};

#ifndef SLUICE_DEFINITIONS_ONLY

Output Rows(Output params, Output indices) {
  return GatherV2(params, indices, IndexScalar(*params.graph(), 0));
}

// Gathers the rows of segments. Rows for negative segment numbers are zeros.
class NonNegativeRows {
 public:
  explicit NonNegativeRows(Output ids) : ids_(ids), clipped_(Maximum(ids, ZerosLike(ids))) {}

  Output Of(Output params) {
    Output gathered = Rows(params, clipped_);
    if (!is_positive_) is_positive_ = Broadcast(gathered);
    return SelectV2(is_positive_, gathered, ZerosLike(gathered));
  }
  Output clipped() const { return clipped_; }
  // Returns a mask of the shape of the gathered rows, which is true for segment numbers that are
  // not negative. Of must be called first.
  Output is_positive() const { return is_positive_; }

 private:
  Output Broadcast(Output gathered) {
    Graph& g = *ids_.graph();
    Output zero = Const(g, ZeroTensor(BaseType(ids_.dtype())), BaseType(ids_.dtype()));
    Output positive = GreaterEqual(ids_, zero);
    Output shape = ShapeNode(positive);
    Output ones = Fill(Pack({Sub(RankNode(gathered), RankNode(positive))}), IndexScalar(g, 1));
    positive = Reshape(positive, ConcatV2({shape, ones}, IndexScalar(g, 0)));
    return LogicalAnd(positive, OnesLike(Cast(gathered, DT_BOOL)));
  }
  static Tensor ZeroTensor(DataType type) {
    if (type == DT_INT64) return Tensor::Scalar<int64_t>(0);
    if (type == DT_INT16) return Tensor::Scalar<int16_t>(0);
    return Tensor::Scalar<int32_t>(0);
  }

  Output ids_;
  Output clipped_;
  Output is_positive_;
};

// Spreads the gradient of a segment evenly over its rows.
void SegmentMeanGradient(Backprop& b) {
  Graph& g = b.graph();
  Output data = b.Value("data"), ids = b.Value("segment_ids");
  Output tail = Fill(ExpandDims(Sub(RankNode(data), IndexScalar(g, 1)), IndexScalar(g, 0)),
                     IndexScalar(g, 1));
  Output ones_shape = ConcatV2({ShapeNode(ids), tail}, IndexScalar(g, 0));
  Output ones = Fill(ones_shape, Cast(IndexScalar(g, 1), BaseType(b.Of(0).dtype())));
  b.Into("data", Rows(RealDiv(b.Of(0), SegmentSum(ones, ids)), ids));
}

// Adds the gradient of a maximum or minimum. Rows that are equal to it share the gradient equally.
void SegmentExtremeGradient(Backprop& b) {
  Output data = b.Value("data"), ids = b.Value("segment_ids");
  Output grad = b.Of(0);
  Output selected = Equal(data, Rows(b.Out(0), ids));
  Output count = SegmentSum(Cast(selected, BaseType(grad.dtype())), ids);
  b.Into("data", SelectV2(selected, Rows(RealDiv(grad, count), ids), ZerosLike(data)));
}

void UnsortedExtremeGradient(Backprop& b) {
  Output data = b.Value("data"), ids = b.Value("segment_ids");
  Output grad = b.Of(0);
  NonNegativeRows rows(ids);
  Output selected = Equal(data, rows.Of(b.Out(0)));
  selected = LogicalAnd(selected, rows.is_positive());
  Output count =
      UnsortedSegmentSum(Cast(selected, BaseType(grad.dtype())), ids, b.Value("num_segments"));
  Output shared = rows.Of(RealDiv(grad, count));
  b.Into("data", SelectV2(selected, shared, ZerosLike(shared)));
}

// Adds the gradient of a product. The derivative with respect to x is the product of the other
// elements of its segment: product / x. For x = 0, it is the product of all elements that are not
// 0, or 0 if the segment has several zeros. `sum` and `product` reduce segments. `rows` gathers the
// rows of segments, and `grad_rows` those of their gradients.
template <typename Sum, typename Product, typename RowsOf, typename GradRowsOf>
void ProductGradient(Backprop& b, Sum sum, Product product, RowsOf rows, GradRowsOf grad_rows) {
  Output data = b.Value("data");
  Graph& g = b.graph();
  Output zero = Cast(IndexScalar(g, 0), BaseType(data.dtype()));
  Output is_zero = Equal(data, zero);
  Output zeros = sum(Cast(is_zero, DT_INT32));
  Output grad = SelectV2(Greater(zeros, IndexScalar(g, 1)), ZerosLike(b.Of(0)), b.Of(0));
  Output others = product(SelectV2(is_zero, OnesLike(data), data));
  Output quotient = RealDiv(rows(b.Out(0)), data);
  Output derivative = SelectV2(is_zero, rows(others), quotient);
  b.Into("data", Mul(grad_rows(grad), derivative));
}

void SegmentProdGradient(Backprop& b) {
  Output ids = b.Value("segment_ids");
  auto rows = [&](Output x) { return Rows(x, ids); };
  ProductGradient(
      b, [&](Output x) { return SegmentSum(x, ids); },
      [&](Output x) { return SegmentProd(x, ids); }, rows, rows);
}

void UnsortedProdGradient(Backprop& b) {
  Output ids = b.Value("segment_ids"), count = b.Value("num_segments");
  NonNegativeRows non_negative(ids);
  ProductGradient(
      b, [&](Output x) { return UnsortedSegmentSum(x, ids, count); },
      [&](Output x) { return UnsortedSegmentProd(x, ids, count); },
      [&](Output x) { return Rows(x, non_negative.clipped()); },
      [&](Output x) { return non_negative.Of(x); });
}

#endif  // SLUICE_DEFINITIONS_ONLY

OP(SegmentMax, "Computes the maximum of the rows of each segment. 0 for segments without rows.")
    .With(SortedSegment{RealTypes()}) GRADIENT(SegmentExtremeGradient);

OP(SegmentMean, "Computes the mean of the rows of each segment. 0 for segments without rows.")
    .With(SortedSegment{NumberTypes()}) GRADIENT(SegmentMeanGradient);

OP(SegmentMin, "Computes the minimum of the rows of each segment. 0 for segments without rows.")
    .With(SortedSegment{RealTypes()}) GRADIENT(SegmentExtremeGradient);

OP(SegmentProd, "Computes the product of the rows of each segment. 1 for segments without rows.")
    .With(SortedSegment{NumberTypes()}) GRADIENT(SegmentProdGradient);

OP(SegmentSum, "Computes the sum of the rows of each segment.")
    .With(SortedSegment{NumberTypes()})
        GRADIENT([](Backprop& b) { b.Into("data", Rows(b.Of(0), b.Value("segment_ids"))); });

OP(UnsortedSegmentMax,
   "Computes the maximum of the rows of each of `num_segments` segments. The lowest value of the "
   "type for segments without rows.")
    .With(UnsortedSegment{RealTypes()}) GRADIENT(UnsortedExtremeGradient);

OP(UnsortedSegmentMin,
   "Computes the minimum of the rows of each of `num_segments` segments. The highest value of the "
   "type for segments without rows.")
    .With(UnsortedSegment{RealTypes()}) GRADIENT(UnsortedExtremeGradient);

OP(UnsortedSegmentProd,
   "Computes the product of the rows of each of `num_segments` segments. 1 for segments without "
   "rows.")
    .With(UnsortedSegment{NumberTypes()}) GRADIENT(UnsortedProdGradient);

OP(UnsortedSegmentSum, "Computes the sum of the rows of each of `num_segments` segments.")
    .With(UnsortedSegment{NumberTypes(), IndexTypes() | TypeSet{DT_INT16}})
        GRADIENT([](Backprop& b) {
          b.Into("data", NonNegativeRows(b.Value("segment_ids")).Of(b.Of(0)));
        });

}  // namespace
}  // namespace sluice
