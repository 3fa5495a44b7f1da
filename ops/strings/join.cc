// Ops that join strings.
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status ReduceJoinShape(ShapeContext& c) {
  const PartialShape& in = c.input(0);
  const std::optional<std::vector<int64_t>> axes = c.InputInts(1);
  const bool keep_dims = c.attr<bool>("keep_dims");
  if (!in.rank_known()) return c.SetOutput(0, PartialShape::UnknownRank());
  if (!axes.has_value()) {
    return c.SetOutput(
        0, keep_dims ? PartialShape::UnknownOfRank(in.rank()) : PartialShape::UnknownRank());
  }
  std::vector<bool> joined(static_cast<size_t>(in.rank()));
  for (int64_t axis : *axes) {
    SLUICE_INVALID_IF(axis < -in.rank() || axis >= in.rank(), "Invalid reduction dimension ", axis,
                      " for input with ", in.rank(), " dimensions.");
    joined[static_cast<size_t>(axis < 0 ? axis + in.rank() : axis)] = true;
  }
  PartialShape out = PartialShape::Scalar();
  for (int d = 0; d < in.rank(); ++d) {
    if (!joined[d] || keep_dims) out.AddDim(joined[d] ? 1 : in.dim(d));
  }
  return c.SetOutput(0, out);
}

absl::Status SegmentJoinShape(ShapeContext& c) {
  const PartialShape &in = c.input(0), &ids = c.input(1);
  SLUICE_RETURN_IF_ERROR(c.WithRank(2, 0).status());
  if (!in.rank_known() || !ids.rank_known()) return c.SetOutput(0, PartialShape::UnknownRank());
  SLUICE_INVALID_IF(ids.rank() > in.rank(), "Shape must be at least rank ", ids.rank(),
                    " but is rank ", in.rank());
  for (int d = 0; d < ids.rank(); ++d) {
    SLUICE_RETURN_IF_ERROR(MergeDim(in.dim(d), ids.dim(d)).status());
  }
  const std::optional<std::vector<int64_t>> count = c.InputInts(2);
  const int64_t segments = count && count->size() == 1 ? (*count)[0] : -1;
  PartialShape out = PartialShape::Scalar();
  out.AddDim(segments < 0 ? -1 : segments);
  for (int d = ids.rank(); d < in.rank(); ++d) out.AddDim(in.dim(d));
  return c.SetOutput(0, out);
}

OP(ReduceJoin, "Joins strings along axes, in the order of the axes.")
    .Input("inputs", DT_STRING)
    .Input("reduction_indices", DT_INT32)
    .Output("output", DT_STRING)
    .Attr("keep_dims", BoolAttr(false))
    .Attr("separator", StringAttr(""))
    .NotDifferentiable()
    .Shape(ReduceJoinShape);

OP(StringJoin,
   "Joins the inputs element by element, with `separator` between. Scalars are joined to every "
   "element.")
    .Input("inputs", "N*string")
    .Output("output", DT_STRING)
    .Attr("N", IntAttr().Min(0))
    .Attr("separator", StringAttr(""))
    .NotDifferentiable()
    .Shape([](ShapeContext& c) -> absl::Status {
      PartialShape shape = PartialShape::Scalar();
      bool may_be_scalar = true;
      for (int i = 0; i < c.num_inputs(); ++i) {
        const PartialShape& input = c.input(i);
        if (!input.rank_known()) return c.SetOutput(0, PartialShape::UnknownRank());
        if (input.rank() == 0) continue;
        if (may_be_scalar) {
          shape = input;
          may_be_scalar = false;
        } else {
          SLUICE_ASSIGN_OR_RETURN(shape, shape.MergeWith(input));
        }
      }
      return c.SetOutput(0, std::move(shape));
    });

OP(UnsortedSegmentJoin, "Joins the strings of each segment in their order.")
    .Input("inputs", DT_STRING)
    .Input("segment_ids", "Tindices")
    .Input("num_segments", "Tnumsegments")
    .Output("output", DT_STRING)
    .Attr("separator", StringAttr(""))
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Attr("Tnumsegments", TypeAttr(IndexTypes(), DT_INT32))
    .Shape(SegmentJoinShape);

}  // namespace
}  // namespace sluice
