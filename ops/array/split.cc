// Splits tensors along a dimension.
#include "graph/infer/expect_size.h"
#include "ops/op.h"

namespace sluice {
namespace {

// Returns the axis in input i, a scalar, or nothing if it is unknown. INVALID_ARGUMENT if the axis
// exceeds the rank.
absl::StatusOr<std::optional<int>> SplitAxis(ShapeContext& c, int i, int rank) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  const std::optional<Tensor> value = c.InputValue(i);
  if (!value || rank < 0) return std::optional<int>();
  const int64_t axis = value->scalar<int32_t>();
  SLUICE_INVALID_IF(axis < -rank || axis >= rank, "Dimension size, given by scalar input ", axis,
                    " must be in range [", -rank, ", ", rank, ")");
  return std::optional<int>(static_cast<int>(axis < 0 ? axis + rank : axis));
}

absl::Status SplitShape(ShapeContext& c) {
  const PartialShape& in = c.input(1);
  SLUICE_ASSIGN_OR_RETURN(const std::optional<int> axis, SplitAxis(c, 0, in.rank()));
  if (!axis) {
    return c.SetOutputs(in.rank_known() ? PartialShape::UnknownOfRank(in.rank()) : PartialShape());
  }
  PartialShape out = in;
  const int64_t n = c.num_outputs();
  if (in.dim(*axis) >= 0) {
    SLUICE_INVALID_IF(in.dim(*axis) % n != 0, "Dimension size must be evenly divisible by ", n,
                      " but is ", in.dim(*axis),
                      ". Number of ways to split should evenly divide the split dimension");
    out.set_dim(*axis, in.dim(*axis) / n);
  }
  return c.SetOutputs(out);
}

// Returns the sum of the sizes, except one that is missing (-1). `whole` is the size that is split,
// or -1 if it is unknown.
absl::StatusOr<int64_t> TotalOf(const std::vector<int64_t>& sizes, int64_t whole) {
  int64_t total = 0;
  int missing = -1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t s = sizes[i];
    SLUICE_INVALID_IF(s < -1, "Invalid size ", s, " in size_splits: must be >= -1");
    if (s < 0) {
      SLUICE_INVALID_IF(missing >= 0, "size_splits can only have one -1");
      missing = static_cast<int>(i);
    } else if (__builtin_add_overflow(total, s, &total)) {
      return InvalidArgument("The sizes of the splits are too large");
    }
  }
  SLUICE_INVALID_IF(whole >= 0 && missing >= 0 && total > whole, "Split size at index ", missing,
                    " must be >= 0. Got: ", whole - total);
  SLUICE_INVALID_IF(whole >= 0 && missing < 0 && total != whole, "can't split axis of size ", whole,
                    " into pieces of total size ", total);
  return total;
}

absl::Status SplitVShape(ShapeContext& c) {
  const PartialShape& in = c.input(0);
  SLUICE_RETURN_IF_ERROR(c.WithRank(1, 1).status());
  SLUICE_ASSIGN_OR_RETURN(const std::optional<int> axis, SplitAxis(c, 2, in.rank()));
  if (!axis) {
    return c.SetOutputs(in.rank_known() ? PartialShape::UnknownOfRank(in.rank()) : PartialShape());
  }
  const std::optional<Tensor> sizes = c.InputValue(1);
  PartialShape out = in;
  out.set_dim(*axis, c.num_outputs() == 1 ? in.dim(*axis) : PartialShape::kUnknown);
  if (!sizes || sizes->dtype() == DT_INT8) return c.SetOutputs(out);
  const std::vector<int64_t> given = *c.InputInts(1);
  SLUICE_INVALID_IF(static_cast<int>(given.size()) != c.num_outputs(),
                    "Length of size_splits should be equal to num_outputs");
  const int64_t whole = in.dim(*axis);
  SLUICE_ASSIGN_OR_RETURN(const int64_t total, TotalOf(given, whole));
  for (int i = 0; i < c.num_outputs(); ++i) {
    out.set_dim(*axis, given[i] >= 0 ? given[i] : whole >= 0 ? whole - total : -1);
    SLUICE_RETURN_IF_ERROR(c.SetOutput(i, out));
  }
  return absl::OkStatus();
}

absl::Status UnpackShape(ShapeContext& c) {
  const PartialShape& in = c.input(0);
  if (!in.rank_known()) return c.SetOutputs(PartialShape());
  SLUICE_ASSIGN_OR_RETURN(const int axis, CanonicalAxis(c.attr<int64_t>("axis"), in.rank()));
  SLUICE_RETURN_IF_ERROR(ExpectSize(in.dim(axis), c.attr<int64_t>("num")));
  PartialShape out = PartialShape::Scalar();
  for (int i = 0; i < in.rank(); ++i) {
    if (i != axis) out.AddDim(in.dim(i));
  }
  return c.SetOutputs(out);
}

#ifndef SLUICE_DEFINITIONS_ONLY
void SplitGradient(Backprop& b) {
  const OutputList parts = b.ListOf("output");
  Output axis = b.Value("split_dim");
  b.Into("value",
         parts.size() == 1 ? Identity(parts[0]) : ConcatV2(parts, axis, {.name = "concat"}));
}
#endif

OP(Split, "Splits `value` into `num_split` equal parts along dimension `split_dim`.")
    .Input("split_dim", DT_INT32)
    .Input("value", "T")
    .Output("output", "num_split*T")
    .Attr("num_split", IntAttr().Min(1))
    .Attr("T", TypeAttr())
    .View()
    .Recompute(RecomputeCost::kElements)
    .Shape(SplitShape) GRADIENT(SplitGradient);

OP(SplitV,
   "Splits `value` into parts of the given sizes along `split_dim`. A size of -1 is computed.")
    .Input("value", "T")
    .Input("size_splits", "Tlen")
    .Input("split_dim", DT_INT32)
    .Output("output", "num_split*T")
    .Attr("num_split", IntAttr().Min(1))
    .Attr("T", TypeAttr())
    .Attr("Tlen", TypeAttr(IndexTypes() | TypeSet{DT_INT8}, DT_INT64))
    .Recompute(RecomputeCost::kElements)
    .Shape(SplitVShape) GRADIENT(SplitGradient);

OP(Unpack, "Splits `value` into `num` slices along dimension `axis`, and removes the dimension.")
    .Input("value", "T")
    .Output("output", "num*T")
    .Attr("num", IntAttr().Min(0))
    .Attr("T", TypeAttr())
    .Attr("axis", IntAttr(0))
    .View()
    .Recompute(RecomputeCost::kElements)
    .Shape(UnpackShape) GRADIENT([](Backprop& b) {
      const OutputList grads = b.ListOf("output");
      if (!grads.empty()) b.Into("value", Pack(grads, {.axis = b.attr<int64_t>("axis")}));
    });

}  // namespace
}  // namespace sluice
