// Ops for slices of a tensor, which are given by begin and size, or by begin, end, strides and
// masks.
#include "graph/infer/constant_context.h"
#include "ops/indexing/slice_spec.h"
#include "ops/op.h"

namespace sluice {
namespace {

// Returns the size of dimension `i` after a Slice. -1 stands for an unknown dimension, begin or
// result.
absl::StatusOr<int64_t> SlicedDim(int i, int64_t dim, int64_t begin, int64_t size,
                                  bool size_exact) {
  const bool is_known = begin >= 0 && dim >= 0;
  if (size >= 0) {
    if (!is_known || size <= dim - begin) return size;
    SLUICE_INVALID_IF(begin > dim, "Expected begin[", i, "] in [0, ", dim, "], but got ", begin);
    return InvalidArgument("Expected size[", i, "] in [0, ", dim - begin, "], but got ", size);
  }
  SLUICE_INVALID_IF(size_exact && size < -1, "Invalid value in tensor used for shape: ", size,
                    " as size[", i, "]");
  if (!size_exact || !is_known) return -1;
  if (begin <= dim) return dim - begin;
  return InvalidArgument("Expected begin[", i, "] in [0, ", dim, "], but got ", begin);
}

absl::Status SliceShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape begins, c.WithRank(1, 1));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape sizes, c.WithRank(2, 1));
  SLUICE_ASSIGN_OR_RETURN(const int64_t rank, MergeDim(begins.dim(0), sizes.dim(0)));
  PartialShape in = c.input(0);
  if (rank >= 0) {
    SLUICE_INVALID_IF(rank > TensorShape::kMaxRank, "too many dimensions: ", rank);
    SLUICE_ASSIGN_OR_RETURN(in, c.WithRank(0, static_cast<int>(rank)));
  }
  if (!in.rank_known()) return c.SetOutput(0, PartialShape());
  const std::optional<std::vector<int64_t>> begin = c.InputInts(1);
  const std::optional<std::vector<int64_t>> size = c.InputInts(2);
  const bool sizes_exact = c.InputValue(2).has_value();
  PartialShape out = PartialShape::UnknownOfRank(in.rank());
  if (!size || static_cast<int>(size->size()) != in.rank()) return c.SetOutput(0, std::move(out));
  for (int i = 0; i < in.rank(); ++i) {
    const int64_t b = begin && c.InputValue(1) ? (*begin)[i] : -1;
    SLUICE_ASSIGN_OR_RETURN(const int64_t d, SlicedDim(i, in.dim(i), b, (*size)[i], sizes_exact));
    out.set_dim(i, d);
  }
  return c.SetOutput(0, std::move(out));
}

// Returns the shape of the slice of `in` whose begin, end and strides are inputs first, first + 1
// and first + 2.
absl::StatusOr<PartialShape> SlicedShape(ShapeContext& c, const PartialShape& in, int first) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape count, c.WithRank(first, 1));
  for (int i = 1; i < 3; ++i) {
    SLUICE_ASSIGN_OR_RETURN(const PartialShape other, c.WithRank(first + i, 1));
    SLUICE_ASSIGN_OR_RETURN(count, count.MergeWith(other));
  }
  auto exact = [&](int i) -> std::optional<std::vector<int64_t>> {
    return c.InputValue(i) ? c.InputInts(i) : std::nullopt;
  };
  const auto strides = exact(first + 2);
  if (!strides || !in.rank_known()) return PartialShape();
  const auto begin = exact(first), end = exact(first + 1);
  SLUICE_ASSIGN_OR_RETURN(SliceSpec spec,
                          ResolveSlice(in, begin, end, *strides, SliceMasks::Of(c)));
  return std::move(spec.result);
}

absl::Status StridedSliceShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape out, SlicedShape(c, c.input(0), 1));
  if (const HandleData* handle = c.InputHandle(0)) c.SetOutputHandle(0, *handle);
  return c.SetOutput(0, std::move(out));
}

absl::Status TensorStridedSliceUpdateShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape slice, SlicedShape(c, c.input(0), 1));
  if (slice.IsFullyDefined() && c.input(4).IsFullyDefined()) {
    const absl::StatusOr<PartialShape> both = BroadcastShapes(slice, c.input(4));
    SLUICE_INVALID_IF(!both.ok() || *both != slice, "Cannot broadcast input shape ",
                      c.input(4).ToString(), " into final shape ", slice.ToString());
  }
  return c.SetOutput(0, c.input(0));
}

#ifndef SLUICE_DEFINITIONS_ONLY

// Pads the gradient with zeros to the shape of the input.
void SliceGradient(Backprop& b) {
  Graph& g = b.graph();
  Output begin = b.Value("begin");
  const DataType type = BaseType(begin.dtype());
  Output column = Pack({RankNode(b.In(0)), IndexScalar(g, 1)});
  Output before = Reshape(begin, column);
  Output rest = Sub(Sub(ShapeNode(b.In(0), type), ShapeNode(b.Out(0), type)), begin);
  Output paddings = ConcatV2({before, Reshape(rest, column)}, IndexScalar(g, 1));
  b.Into("input", Pad(b.Of(0), paddings));
}

// Returns the masks of the op as attributes of a builder function.
template <typename Attrs>
Attrs MasksOf(const Backprop& b) {
  Attrs attrs;
  attrs.begin_mask = b.attr<int64_t>("begin_mask");
  attrs.end_mask = b.attr<int64_t>("end_mask");
  attrs.ellipsis_mask = b.attr<int64_t>("ellipsis_mask");
  attrs.new_axis_mask = b.attr<int64_t>("new_axis_mask");
  attrs.shrink_axis_mask = b.attr<int64_t>("shrink_axis_mask");
  return attrs;
}

// Casts int16 positions, which StridedSliceGrad does not permit.
Output WidePosition(Output position) {
  return BaseType(position.dtype()) == DT_INT16 ? Cast(position, DT_INT32) : position;
}

void StridedSliceGradient(Backprop& b) {
  Output begin = WidePosition(b.Value("begin"));
  Output shape = ShapeNode(b.In(0), BaseType(begin.dtype()));
  b.Into("input", StridedSliceGrad(shape, begin, WidePosition(b.Value("end")),
                                   WidePosition(b.Value("strides")), b.Of(0),
                                   MasksOf<StridedSliceGradAttrs>(b)));
}

void TensorStridedSliceUpdateGradient(Backprop& b) {
  Output begin = b.Value("begin"), end = b.Value("end"), strides = b.Value("strides");
  const DataType type = BaseType(begin.dtype());
  Output dy = StridedSlice(b.Of(0), begin, end, strides, MasksOf<StridedSliceAttrs>(b));
  b.Into("input", TensorStridedSliceUpdate(b.Of(0), begin, end, strides, ZerosLike(dy),
                                           MasksOf<TensorStridedSliceUpdateAttrs>(b)));
  // Sums the gradient along the axes along which the value was broadcast.
  Output value_shape = ShapeNode(b.Value("value"), type);
  Output axes = BroadcastGradientArgs(ShapeNode(dy, type), value_shape).r1;
  b.Into("value", Reshape(Sum(dy, axes, {.keep_dims = true}), value_shape));
}

#endif  // SLUICE_DEFINITIONS_ONLY

std::optional<PartialInts> ValueOfSlice(ConstantContext& c) {
  const std::optional<PartialInts> data = c.Input(0);
  const std::optional<int64_t> begin = c.Element(1), size = c.Element(2);
  if (!data || data->is_scalar || !begin || !size) return std::nullopt;
  const int64_t n = static_cast<int64_t>(data->values.size());
  if (*begin < 0 || *begin > n) return std::nullopt;
  const int64_t count = *size < 0 ? n - *begin : *size;
  if (count > n - *begin) return std::nullopt;
  const auto first = data->values.begin() + *begin;
  return PartialInts{false, {first, first + count}};
}

// Returns the first element of the slice of a vector of n elements, and the element after its last.
std::pair<int64_t, int64_t> BoundsOf(int64_t n, std::optional<int64_t> from,
                                     std::optional<int64_t> to, int64_t stride) {
  const auto clamp = [&](int64_t v) {
    if (v < 0) v += n;
    return stride > 0 ? std::clamp<int64_t>(v, 0, n) : std::clamp<int64_t>(v, -1, n - 1);
  };
  const int64_t begin = !from ? (stride > 0 ? 0 : n - 1) : clamp(*from);
  const int64_t end = !to ? (stride > 0 ? n : -1) : clamp(*to);
  return {begin, end};
}

// Returns element `at` of a vector as a scalar. -1 is the last element.
std::optional<PartialInts> ElementAt(const PartialInts& vector, int64_t at) {
  const int64_t n = static_cast<int64_t>(vector.values.size());
  if (at < 0) at += n;
  if (at < 0 || at >= n) return std::nullopt;
  return PartialInts::Scalar(vector.values[at]);
}

// Returns the slice of a vector, if all that it depends on is known.
std::optional<PartialInts> ValueOfStridedSlice(ConstantContext& c) {
  const std::optional<PartialInts> data = c.Input(0);
  const std::optional<int64_t> from = c.Element(1), to = c.Element(2), stride = c.Element(3);
  if (!data || data->is_scalar || !from || !to || !stride || *stride == 0) return std::nullopt;
  const auto mask = [&](const char* name) { return (c.node().AttrOr<int64_t>(name, 0) & 1) != 0; };
  if (mask("ellipsis_mask") || mask("new_axis_mask")) return std::nullopt;
  const int64_t n = static_cast<int64_t>(data->values.size());
  if (mask("shrink_axis_mask")) {
    return ElementAt(*data, *from);
  }
  const auto [begin, end] = BoundsOf(n, mask("begin_mask") ? std::nullopt : from,
                                     mask("end_mask") ? std::nullopt : to, *stride);
  PartialInts out;
  // Limits the step, because a long one might overflow. One of n + 1 elements leaves the vector,
  // too.
  const int64_t step = std::clamp(*stride, -n - 1, n + 1);
  for (int64_t i = begin; step > 0 ? i < end : i > end; i += step) {
    out.values.push_back(data->values[i]);
  }
  return out;
}

void SliceBounds(OpDefBuilder& op) {
  op.Input("begin", "Index").Input("end", "Index").Input("strides", "Index");
}

OP(Slice,
   "Returns size[i] elements of each dimension i, starting at begin[i]. A size of -1 means all "
   "remaining elements.")
    .Input("input", "T")
    .Input("begin", "Index")
    .Input("size", "Index")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("Index", TypeAttr(IndexTypes()))
    .View()
    .ConstantValue(ValueOfSlice)
    .Recompute(RecomputeCost::kElements)
    .Shape(SliceShape) GRADIENT(SliceGradient);

OP(StridedSlice,
   "Returns every strides[i]-th element of dimension i from begin[i] up to and excluding end[i]. "
   "Negative positions count from the end. Bit i of begin_mask or end_mask ignores begin[i] or "
   "end[i]. Bit i of ellipsis_mask lets entry i stand for all remaining dimensions, of "
   "new_axis_mask inserts a dimension of size 1, of shrink_axis_mask takes one element and removes "
   "the dimension.")
    .Input("input", "T")
    .With(SliceBounds)
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("Index", TypeAttr(IndexTypes() | TypeSet{DT_INT16}))
    .With(SliceMaskAttrs)
    .View()
    .ConstantValue(ValueOfStridedSlice)
    .Recompute(RecomputeCost::kElements)
    .Shape(StridedSliceShape) GRADIENT(StridedSliceGradient);

OP(StridedSliceGrad,
   "Returns zeros of the given shape, with `dy` as the slice that StridedSlice selects.")
    .Input("shape", "Index")
    .With(SliceBounds)
    .Input("dy", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("Index", TypeAttr(IndexTypes()))
    .With(SliceMaskAttrs)
    .Shape(ShapeFromInput(0)) GRADIENT([](Backprop& b) {
      b.Into("dy", StridedSlice(b.Of(0), b.Value("begin"), b.Value("end"), b.Value("strides"),
                                MasksOf<StridedSliceAttrs>(b)));
    });

OP(TensorStridedSliceUpdate,
   "Replaces the slice of the input that StridedSlice selects by `value`.")
    .Input("input", "T")
    .With(SliceBounds)
    .Input("value", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("Index", TypeAttr(IndexTypes()))
    .With(SliceMaskAttrs)
    .Shape(TensorStridedSliceUpdateShape) GRADIENT(TensorStridedSliceUpdateGradient);

}  // namespace
}  // namespace sluice
