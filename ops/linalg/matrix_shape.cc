#include "ops/linalg/matrix_shape.h"

namespace sluice {

PartialShape BatchOf(const PartialShape& s) {
  return s.rank() >= 2 ? PartialShape(s.dims().subspan(0, s.rank() - 2)) : PartialShape();
}

int64_t MatrixRows(const PartialShape& s) { return s.rank_known() ? s.dim(s.rank() - 2) : -1; }
int64_t MatrixColumns(const PartialShape& s) { return s.rank_known() ? s.dim(s.rank() - 1) : -1; }

absl::StatusOr<PartialShape> Squares(const ShapeContext& c, int i) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape s, c.WithRankAtLeast(i, 2));
  SLUICE_ASSIGN_OR_RETURN(const int64_t side, MergeDim(MatrixRows(s), MatrixColumns(s)));
  return BatchOf(s).Concatenate({side, side});
}

absl::Status SquareShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape s, Squares(c, 0));
  return c.SetOutput(0, s);
}

namespace {

absl::Status SolveShapeOf(ShapeContext& c, const PartialShape& matrix) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape rhs, c.WithRankAtLeast(1, 2));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape batch, BatchOf(matrix).MergeWith(BatchOf(rhs)));
  SLUICE_RETURN_IF_ERROR(MergeDim(MatrixRows(matrix), MatrixRows(rhs)).status());
  return c.SetOutput(0, batch.Concatenate({MatrixColumns(matrix), MatrixColumns(rhs)}));
}

}  // namespace

absl::Status SolveShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape matrix, Squares(c, 0));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape rhs, c.WithRankAtLeast(1, 2));
  SLUICE_ASSIGN_OR_RETURN(const int64_t side, MergeDim(MatrixRows(matrix), MatrixRows(rhs)));
  return SolveShapeOf(c, BatchOf(matrix).Concatenate({side, side}));
}

absl::Status LeastSquaresShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape matrix, c.WithRankAtLeast(0, 2));
  SLUICE_RETURN_IF_ERROR(c.WithRank(2, 0).status());
  return SolveShapeOf(c, matrix);
}

absl::Status TriangularSolveShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape matrix, Squares(c, 0));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape rhs, c.WithRankAtLeast(1, 2));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape batch, BroadcastShapes(BatchOf(matrix), BatchOf(rhs)));
  SLUICE_ASSIGN_OR_RETURN(const int64_t rows, MergeDim(MatrixRows(matrix), MatrixRows(rhs)));
  return c.SetOutput(0, batch.Concatenate({rows, MatrixColumns(rhs)}));
}

absl::Status BandedSolveShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape matrix, c.WithRankAtLeast(0, 2));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape rhs, c.WithRankAtLeast(1, 2));
  SLUICE_INVALID_IF(MatrixRows(matrix) == 0, "Number of bands must be positive, but is 0");
  SLUICE_ASSIGN_OR_RETURN(const PartialShape batch, BroadcastShapes(BatchOf(matrix), BatchOf(rhs)));
  SLUICE_ASSIGN_OR_RETURN(const int64_t rows, MergeDim(MatrixColumns(matrix), MatrixRows(rhs)));
  return c.SetOutput(0, batch.Concatenate({rows, MatrixColumns(rhs)}));
}

absl::Status DeterminantShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape s, Squares(c, 0));
  return c.SetOutputs(BatchOf(s));
}

void SquareFunction::operator()(OpDefBuilder& op) const {
  op.Input("input", "T").Output("output", "T").Attr("T", TypeAttr(types)).Shape(SquareShape);
}

}  // namespace sluice
