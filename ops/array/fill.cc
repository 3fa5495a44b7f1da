// Tensors made from a rule: one value everywhere, sequences, one-hot rows.

#include <cmath>
#include <limits>

#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/shape_nodes.h"
#endif

namespace sluice {
namespace {

absl::Status ShapeFromInput0(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape out, c.InputAsShape(0));
  return c.SetOutput(0, std::move(out));
}

absl::Status FillShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(0, 1).status());
  SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  return ShapeFromInput0(c);
}

absl::Status EmptyShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(0, 1).status());
  return ShapeFromInput0(c);
}

absl::Status OneHotShape(ShapeContext& c) {
  for (int i = 1; i < 4; ++i) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  const int64_t axis = c.attr<int64_t>("axis");
  if (axis < -1) return InvalidArgument("axis must be >= -1");
  int64_t depth = -1;
  if (std::optional<Tensor> value = c.InputValue(1)) {
    depth = value->scalar<int32_t>();
    if (depth < 0)
      return InvalidArgument(
          "Dimension size, given by scalar input 1, must be "
          "non-negative but is ",
          depth);
  }
  const PartialShape& indices = c.input(0);
  if (!indices.rank_known()) return c.SetOutput(0, PartialShape());
  if (axis > indices.rank()) {
    return InvalidArgument("Shape must be at least rank ", axis, " but is rank ", indices.rank());
  }
  const int at = axis < 0 ? indices.rank() : static_cast<int>(axis);
  PartialShape out = PartialShape::Scalar();
  for (int i = 0; i <= indices.rank(); ++i) {
    if (i == at) out.AddDim(depth);
    if (i < indices.rank()) out.AddDim(indices.dim(i));
  }
  return c.SetOutput(0, std::move(out));
}

absl::Status CheckRange(bool zero_delta, bool upwards, bool start_le_limit, bool start_ge_limit) {
  if (zero_delta) return InvalidArgument("Requires delta != 0");
  if (upwards && !start_le_limit) {
    return InvalidArgument("Requires start <= limit when delta > 0");
  }
  if (!upwards && !start_ge_limit) {
    return InvalidArgument("Requires start >= limit when delta < 0");
  }
  return absl::OkStatus();
}

template <typename T>
absl::StatusOr<int64_t> RangeLength(const Tensor& s, const Tensor& l, const Tensor& d) {
  const T start = s.scalar<T>(), limit = l.scalar<T>(), delta = d.scalar<T>();
  SLUICE_RETURN_IF_ERROR(CheckRange(delta == T(0), delta > T(0), start <= limit, start >= limit));
  if constexpr (std::is_integral_v<T>) {
    const __int128 span = static_cast<__int128>(limit) - start;
    const __int128 step = delta;
    const __int128 length = (span + step + (step > 0 ? -1 : 1)) / step;
    return length <= std::numeric_limits<int64_t>::max() ? static_cast<int64_t>(length) : -1;
  } else {
    const double n = std::ceil(std::abs((static_cast<double>(limit) - static_cast<double>(start)) /
                                        static_cast<double>(delta)));
    return n < 9e18 ? static_cast<int64_t>(n) : -1;
  }
}

absl::Status RangeShape(ShapeContext& c) {
  std::optional<Tensor> v[3];
  bool known = true;
  for (int i = 0; i < 3; ++i) {
    SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
    v[i] = c.InputValue(i);
    known &= v[i].has_value() && v[i]->num_elements() == 1;
  }
  absl::StatusOr<int64_t> n = -1;
  if (known) {
    switch (c.input_type(0)) {
      case DT_HALF:
        n = RangeLength<half>(*v[0], *v[1], *v[2]);
        break;
      case DT_BFLOAT16:
        n = RangeLength<bfloat16>(*v[0], *v[1], *v[2]);
        break;
      case DT_INT32:
        n = RangeLength<int32_t>(*v[0], *v[1], *v[2]);
        break;
      case DT_INT64:
        n = RangeLength<int64_t>(*v[0], *v[1], *v[2]);
        break;
      case DT_FLOAT:
        n = RangeLength<float>(*v[0], *v[1], *v[2]);
        break;
      case DT_DOUBLE:
        n = RangeLength<double>(*v[0], *v[1], *v[2]);
        break;
      default:
        break;
    }
  }
  SLUICE_RETURN_IF_ERROR(n.status());
  return c.SetOutput(0, PartialShape::Vector(*n));
}

absl::Status LinSpaceShape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  int64_t n = -1;
  if (std::optional<std::vector<int64_t>> num = c.InputInts(2); num && num->size() == 1) {
    n = (*num)[0];
    if (n <= 0) return InvalidArgument("Requires num > 0: ", n);
  }
  return c.SetOutput(0, PartialShape::Vector(n));
}

OP(Empty, "A tensor of the given shape, zeros if `init`, else of whatever was in memory.")
    .Input("shape", DT_INT32)
    .Output("output", "dtype")
    .Attr("dtype", TypeAttr())
    .Attr("init", BoolAttr(false))
    .Stateful()
    .Shape(EmptyShape);

OP(Fill, "A tensor of shape `dims`, every element `value`.")
    .Input("dims", "index_type")
    .Input("value", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("index_type", TypeAttr(IndexTypes(), DT_INT32))
    .Shape(FillShape)
        GRADIENT([](Backprop& b) { b.Into("value", Sum(b.Of(0), AllAxes(b.Of(0)))); });

OP(LinSpace, "`num` values from `start` to `stop`, both included, at equal distances.")
    .Input("start", "T")
    .Input("stop", "T")
    .Input("num", "Tidx")
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("Tidx", TypeAttr(IndexTypes(), DT_INT32))
    .NotDifferentiable()
    .Shape(LinSpaceShape);

OP(OneHot,
   "A new dimension of size `depth` at `axis` (-1: the last), `on_value` at the place that the"
   " index names and `off_value` elsewhere; an index outside [0, depth) names no place.")
    .Input("indices", "TI")
    .Input("depth", DT_INT32)
    .Input("on_value", "T")
    .Input("off_value", "T")
    .Output("output", "T")
    .Attr("axis", IntAttr(-1))
    .Attr("T", TypeAttr())
    .Attr("TI", TypeAttr(IndexTypes() | TypeSet{DT_UINT8, DT_INT8}, DT_INT64))
    .NotDifferentiable()
    .Shape(OneHotShape);

OP(OnesLike, "Ones, in x's shape and type.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(RealTypes() | ComplexTypes() | TypeSet{DT_BOOL}))
    .NotDifferentiable()
    .Shape(SameAsInput(0));

OP(Range, "`start`, `start` + `delta`, … up to and without `limit`.")
    .Input("start", "Tidx")
    .Input("limit", "Tidx")
    .Input("delta", "Tidx")
    .Output("output", "Tidx")
    .Attr("Tidx",
          TypeAttr(FloatTypes() | SignedIntTypes() | TypeSet{DT_UINT16, DT_UINT32, DT_UINT64},
                   DT_INT32))
    .NotDifferentiable()
    .Shape(RangeShape);

OP(ZerosLike, "Zeros (empty strings, false) in x's shape and type.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr())
    .NotDifferentiable()
    .Shape(SameAsInput(0));

}  // namespace
}  // namespace sluice
