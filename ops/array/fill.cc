// Ops that make tensors by a rule: filled with one value, sequences, one-hot rows.
#include "graph/infer/constant_context.h"
#include "graph/infer/image_roles.h"
#include "ops/array/range_length.h"
#include "ops/loops/elements.h"
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status FillShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(0, 1).status());
  SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  for (int64_t d : c.InputInts(0).value_or(std::vector<int64_t>())) {
    SLUICE_INVALID_IF(d < -1 || (d == -1 && c.InputValue(0)), "Fill dimensions must be >= 0, got ",
                      d);
  }
  return ShapeFromInput(0)(c);
}

absl::Status EmptyShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(0, 1).status());
  return ShapeFromInput(0)(c);
}

absl::Status OneHotShape(ShapeContext& c) {
  const int64_t axis = c.attr<int64_t>("axis");
  SLUICE_INVALID_IF(axis < -1, "axis must be >= -1");
  SLUICE_ASSIGN_OR_RETURN(const int64_t depth, c.InputAsSize(1));
  const PartialShape& indices = c.input(0);
  if (!indices.rank_known()) return c.SetOutput(0, PartialShape());
  SLUICE_INVALID_IF(axis > indices.rank(), "Expected axis to be -1 or between [0, ",
                    indices.rank() + 1, ").  But received: ", axis);
  constexpr const char* kScalars[] = {"on_value", "off_value"};
  for (int i = 0; i < 2; ++i) {
    const PartialShape& value = c.input(2 + i);
    SLUICE_INVALID_IF(value.rank() > 0, kScalars[i],
                      " must be a scalar, but got: ", value.ToString());
  }
  const int at = axis < 0 ? indices.rank() : static_cast<int>(axis);
  PartialShape out = PartialShape::Scalar();
  for (int i = 0; i <= indices.rank(); ++i) {
    if (i == at) out.AddDim(depth);
    if (i < indices.rank()) out.AddDim(indices.dim(i));
  }
  return c.SetOutput(0, std::move(out));
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
    WithType(c.input_type(0), RangeList(), [&]<typename T>(ElementTag<T>) {
      n = RangeLength(v[0]->scalar<T>(), v[1]->scalar<T>(), v[2]->scalar<T>());
    });
  }
  SLUICE_RETURN_IF_ERROR(n.status());
  return c.SetOutput(0, PartialShape::Vector(*n));
}

absl::Status LinSpaceShape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  int64_t n = -1;
  if (std::optional<std::vector<int64_t>> num = c.InputInts(2); num && num->size() == 1) {
    n = (*num)[0];
    SLUICE_INVALID_IF(n <= 0, "Requires num > 0: ", n);
  }
  return c.SetOutput(0, PartialShape::Vector(n));
}

std::optional<PartialInts> ValueOfFill(ConstantContext& c) {
  const std::optional<int64_t> n = c.Element(0);
  const std::optional<PartialInts> value = c.Input(1);
  if (!n || *n < 0 || *n > ConstantContext::kMaxElements) return std::nullopt;
  if (!value || value->values.size() != 1) return std::nullopt;
  return PartialInts{false, std::vector<std::optional<int64_t>>(*n, value->values[0])};
}

std::optional<PartialInts> ValueOfRange(ConstantContext& c) {
  const std::optional<int64_t> start = c.Element(0), limit = c.Element(1), delta = c.Element(2);
  if (!start || !limit || !delta || *delta == 0) return std::nullopt;
  PartialInts out;
  for (int64_t x = *start; *delta > 0 ? x < *limit : x > *limit;) {
    if (out.values.size() >= ConstantContext::kMaxElements) return std::nullopt;
    out.values.push_back(x);
    if (__builtin_add_overflow(x, *delta, &x)) break;  // past any limit
  }
  return out;
}

// Declares an op that makes a tensor of x's shape and type, filled with one value.
struct ConstantLike {
  TypeSet types;
  void operator()(OpDefBuilder& op) const {
    op.With(UnaryElementwise{types}).Elementwise(ElementwiseInputs::kNone).NotDifferentiable();
    op.Images(ImagesOfOneSize).Recompute(RecomputeCost::kElements);
  }
};

OP(Empty, "Allocates a tensor of the given shape. Zeroes it if `init` is set.")
    .Input("shape", DT_INT32)
    .Output("output", "dtype")
    .Attr("dtype", TypeAttr())
    .Attr("init", BoolAttr(false))
    .Stateful()
    .Shape(EmptyShape);

OP(Fill, "Fills a tensor of shape `dims` with `value`.")
    .Input("dims", "index_type")
    .Input("value", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("index_type", TypeAttr(IndexTypes(), DT_INT32))
    .ShapeInput(0)
    .ConstantValue(ValueOfFill)
    .Recompute(RecomputeCost::kElements)
    .Shape(FillShape)
        GRADIENT([](Backprop& b) { b.Into("value", Sum(b.Of(0), AllAxes(b.Of(0)))); });

OP(LinSpace, "Returns `num` evenly spaced values from `start` to `stop`, both included.")
    .Input("start", "T")
    .Input("stop", "T")
    .Input("num", "Tidx")
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("Tidx", TypeAttr(IndexTypes(), DT_INT32))
    .NotDifferentiable()
    .Shape(LinSpaceShape);

OP(OneHot,
   "Adds a dimension of size `depth` at `axis` (-1: the last). Elements are `on_value` at the "
   "position given by the index, and `off_value` elsewhere or if the index is not in [0, depth).")
    .Input("indices", "TI")
    .Input("depth", DT_INT32)
    .Input("on_value", "T")
    .Input("off_value", "T")
    .Output("output", "T")
    .Attr("axis", IntAttr(-1))
    .Attr("T", TypeAttr())
    .Attr("TI", TypeAttr(IndexTypes() | TypeSet{DT_UINT8, DT_INT8}, DT_INT64))
    .NotDifferentiable()
    .Recompute(RecomputeCost::kElements)
    .Shape(OneHotShape);

OP(OnesLike, "Returns ones in the shape and type of x.")
    .With(ConstantLike{RealTypes() | ComplexTypes() | TypeSet{DT_BOOL}});

OP(Range, "Returns `start`, `start + delta`, … up to and excluding `limit`.")
    .Input("start", "Tidx")
    .Input("limit", "Tidx")
    .Input("delta", "Tidx")
    .Output("output", "Tidx")
    .Attr("Tidx",
          TypeAttr(FloatTypes() | SignedIntTypes() | TypeSet{DT_UINT16, DT_UINT32, DT_UINT64},
                   DT_INT32))
    .NotDifferentiable()
    .ConstantValue(ValueOfRange)
    .Shape(RangeShape);

OP(ZerosLike, "Returns zeros (empty strings, false) in the shape and type of x.")
    .With(ConstantLike{});

}  // namespace
}  // namespace sluice
