// Ops that find distinct elements, or the difference of two lists.
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status UniqueShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape x, c.WithRank(0, 1));
  for (int i = 0; i < c.num_outputs(); ++i) {
    SLUICE_RETURN_IF_ERROR(c.SetOutput(i, i == 1 ? x : PartialShape::Vector()));
  }
  return absl::OkStatus();
}

absl::StatusOr<int> UniqueAxis(int64_t axis, int rank) {
  SLUICE_INVALID_IF(axis < -rank || axis >= rank, "axis expects to be in the range [", -rank, ", ",
                    rank, ")");
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

// Shape function of UniqueV2. y has the shape of x, except for dimension `axis`. If `axis` is
// empty, x must be a vector.
absl::Status UniqueV2Shape(ShapeContext& c) {
  for (int i = 1; i < c.num_outputs(); ++i) {
    SLUICE_RETURN_IF_ERROR(c.SetOutput(i, PartialShape::Vector()));
  }
  const PartialShape& x = c.input(0);
  const std::optional<Tensor> value = c.InputValue(1);
  SLUICE_INVALID_IF(c.input(1).rank() > 1, "axis expects a 1D vector.");
  if (!value) {
    return c.SetOutput(0, x.rank_known() ? PartialShape::UnknownOfRank(x.rank()) : PartialShape());
  }
  const std::vector<int64_t> axes = *c.InputInts(1);
  SLUICE_INVALID_IF(axes.size() > 1, "axis does not support input tensors larger than 1 elements");
  if (axes.empty()) {
    SLUICE_INVALID_IF(x.rank_known() && x.rank() != 1, "x expects a 1D vector, got shape ",
                      x.ToString());
    const PartialShape vector = x.rank_known() ? x : PartialShape::Vector();
    SLUICE_RETURN_IF_ERROR(c.SetOutput(1, vector));
    return c.SetOutput(0, PartialShape::Vector());
  }
  if (!x.rank_known()) return c.SetOutput(0, PartialShape());
  SLUICE_ASSIGN_OR_RETURN(const int axis, UniqueAxis(axes[0], x.rank()));
  PartialShape y = x;
  y.set_dim(axis, PartialShape::kUnknown);
  SLUICE_RETURN_IF_ERROR(c.SetOutput(1, PartialShape::Vector(x.dim(axis))));
  return c.SetOutput(0, std::move(y));
}

absl::Status ListDiffShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(0, 1).status());
  SLUICE_RETURN_IF_ERROR(c.WithRank(1, 1).status());
  return c.SetOutputs(PartialShape::Vector());
}

// Both functions declare outputs y and idx with x[i] = y[idx[i]]. UniqueV2Op adds an input `axis`.
void UniqueOp(OpDefBuilder& op) {
  op.Input("x", "T").Output("y", "T").Output("idx", "out_idx").Attr("T", TypeAttr());
  op.Attr("out_idx", TypeAttr(IndexTypes(), DT_INT32)).Shape(UniqueShape);
}

void UniqueV2Op(OpDefBuilder& op) {
  op.Input("x", "T").Input("axis", "Taxis").Output("y", "T").Output("idx", "out_idx");
  op.Attr("T", TypeAttr()).Attr("Taxis", TypeAttr(IndexTypes(), DT_INT64));
  op.Attr("out_idx", TypeAttr(IndexTypes(), DT_INT32)).Shape(UniqueV2Shape);
}

OP(ListDiff, "Returns the elements of x that are not in y, in order, and their positions in x.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("out", "T")
    .Output("idx", "out_idx")
    .Attr("T", TypeAttr())
    .Attr("out_idx", TypeAttr(IndexTypes(), DT_INT32))
    .Shape(ListDiffShape);

OP(Unique, "Returns the distinct elements of a vector in order of appearance. x[i] = y[idx[i]].")
    .With(UniqueOp);

OP(UniqueV2,
   "Returns the distinct slices of x along `axis`, a vector with one axis. It may be empty if x is "
   "a vector.")
    .With(UniqueV2Op);

OP(UniqueWithCounts, "Unique that also counts the occurrences of each element.")
    .With(UniqueOp)
    .Output("count", "out_idx");

OP(UniqueWithCountsV2, "UniqueV2 that also counts the occurrences of each slice.")
    .With(UniqueV2Op)
    .Output("count", "out_idx");

}  // namespace
}  // namespace sluice
