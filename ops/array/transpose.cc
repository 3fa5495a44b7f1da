// Permutes and reverses dimensions.
#include "graph/infer/constant_context.h"
#include "graph/infer/expect_size.h"
#include "graph/ir/constant.h"
#include "ops/op.h"

namespace sluice {
namespace {

// Permutes the sizes of `x`. `out` is an unknown shape with as many dimensions as `order` has
// elements.
absl::StatusOr<PartialShape> Permuted(const PartialShape& x, const std::vector<int64_t>& order,
                                      PartialShape out) {
  const int64_t rank = out.rank();
  for (int i = 0; i < rank; ++i) {
    const int64_t d = order[i] < 0 ? order[i] + rank : order[i];
    SLUICE_INVALID_IF(d < 0 || d >= rank, "perm dim ", order[i], " is out of range of input rank ",
                      rank);
    out.set_dim(i, x.dim(static_cast<int>(d)));
  }
  return out;
}

absl::Status TransposeShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape perm, c.WithRank(1, 1));
  const PartialShape& x = c.input(0);
  const std::optional<Tensor> value = c.InputValue(1);
  int64_t rank = x.rank();
  if (rank < 0) {
    rank = perm.dim(0);
  } else {
    SLUICE_RETURN_IF_ERROR(ExpectSize(perm.dim(0), rank));
  }
  if (rank < 0 || rank > TensorShape::kMaxRank) return c.SetOutput(0, PartialShape());
  PartialShape out = PartialShape::UnknownOfRank(static_cast<int>(rank));
  if (!value) return c.SetOutput(0, rank < 2 && x.rank_known() ? x : out);
  const std::vector<int64_t> order = *c.InputInts(1);
  SLUICE_ASSIGN_OR_RETURN(out, Permuted(x, order, std::move(out)));
  return c.SetOutput(0, std::move(out));
}

absl::Status VectorShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape x, c.WithRank(0, 1));
  return c.SetOutput(0, std::move(x));
}

absl::Status CheckReverseRank(const PartialShape& shape) {
  if (shape.rank() <= 8) return absl::OkStatus();
  return InvalidArgument("reverse does not work on tensors with more than 8 dimensions");
}

absl::Status ReverseShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape dims, c.WithRank(1, 1));
  const PartialShape& in = c.input(0);
  SLUICE_RETURN_IF_ERROR(CheckReverseRank(in));
  if (dims.dim(0) < 0) return c.SetOutput(0, in);
  SLUICE_INVALID_IF(dims.dim(0) > TensorShape::kMaxRank, "too many dimensions");
  SLUICE_ASSIGN_OR_RETURN(PartialShape out, c.WithRank(0, static_cast<int>(dims.dim(0))));
  return c.SetOutput(0, std::move(out));
}

absl::Status ReverseV2Shape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(1, 1).status());
  const PartialShape& in = c.input(0);
  SLUICE_RETURN_IF_ERROR(CheckReverseRank(in));
  const std::optional<Tensor> value = c.InputValue(1);
  if (value && in.rank_known()) {
    std::vector<bool> seen(in.rank());
    const std::vector<int64_t> axes = *c.InputInts(1);
    for (int64_t axis : axes) {
      const int64_t d = axis < 0 ? axis + in.rank() : axis;
      SLUICE_INVALID_IF(d < 0 || d >= in.rank(), "'axis'[", axis, "] is out of valid range [", 0,
                        ", ", in.rank() - 1, "]");
      SLUICE_INVALID_IF(seen[d], "axis ", d, " specified more than once.");
      seen[d] = true;
    }
  }
  return c.SetOutput(0, in);
}

// Returns the permutation of a Transpose, if it is constant and valid.
std::optional<std::vector<int64_t>> OrderOf(const Node& transpose) {
  return ConstantPermutation(transpose.input(1), transpose.input(0).shape().rank());
}

bool IsAscending(const std::vector<int64_t>& order) {
  return std::is_sorted(order.begin(), order.end());
}

bool KeepsOrder(const Node& transpose) {
  const std::optional<std::vector<int64_t>> order = OrderOf(transpose);
  return order && IsAscending(*order);
}

bool TransposesBack(const Node& outer, const Node& inner) {
  std::optional<std::vector<int64_t>> order = OrderOf(outer);
  const std::optional<std::vector<int64_t>> first = OrderOf(inner);
  if (!order || !first || order->size() != first->size()) return false;
  for (int64_t& d : *order) d = (*first)[d];
  return IsAscending(*order);
}

// Returns, for each dimension, whether `axes` contains it. Returns nothing if an axis is repeated
// or out of range.
std::optional<std::vector<bool>> NamedAxes(const std::vector<int64_t>& axes, int rank) {
  std::vector<bool> reversed(rank);
  for (int64_t axis : axes) {
    const int64_t d = axis < 0 ? axis + rank : axis;
    if (d < 0 || d >= rank || reversed[d]) return std::nullopt;
    reversed[d] = true;
  }
  return reversed;
}

// Returns the dimensions that a Reverse or ReverseV2 reverses, or nothing if the node may fail.
std::optional<std::vector<bool>> DimsReversed(const Node& node) {
  constexpr int kMostDims = 8;  // the kernel's limit
  const int rank = node.input(0).shape().rank();
  const Tensor* dims = ConstantBehind(node.input(1));
  if (rank < 0 || rank > kMostDims || dims == nullptr || dims->rank() != 1) return std::nullopt;
  if (dims->dtype() == DT_BOOL) {
    if (dims->dim(0) != rank) return std::nullopt;
    return std::vector<bool>(dims->flat<bool>().begin(), dims->flat<bool>().end());
  }
  return NamedAxes(*ConstantInts(node.input(1)), rank);
}

bool ReversesBack(const Node& outer, const Node& inner) {
  const std::optional<std::vector<bool>> dims = DimsReversed(outer);
  return dims && dims == DimsReversed(inner);
}

std::optional<PartialInts> ValueOfInvertPermutation(ConstantContext& c) {
  const std::optional<PartialInts> data = c.Input(0);
  if (!data || data->is_scalar) return std::nullopt;
  const auto n = static_cast<int64_t>(data->values.size());
  PartialInts out = PartialInts::Unknown(n);
  for (int64_t i = 0; i < n; ++i) {
    const std::optional<int64_t> to = data->values[i];
    if (!to || *to < 0 || *to >= n || out.values[*to]) return std::nullopt;
    out.values[*to] = i;
  }
  return out;
}

void TransposeOp(OpDefBuilder& op) {
  op.Input("x", "T").Input("perm", "Tperm").Output("y", "T").Attr("T", TypeAttr());
  op.Attr("Tperm", TypeAttr(IndexTypes(), DT_INT32)).MayForwardInput().Shape(TransposeShape);
}

OP(ConjugateTranspose, "Transposes x and conjugates its elements.")
    .With(TransposeOp) GRADIENT([](Backprop& b) {
      b.Into("x", ConjugateTranspose(b.Of(0), InvertPermutation(b.Value("perm"))));
    });

OP(InvertPermutation, "Computes the inverse y of permutation x: y[x[i]] = i.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(IndexTypes(), DT_INT32))
    .NotDifferentiable()
    .ConstantValue(ValueOfInvertPermutation)
    .Shape(VectorShape);

OP(Reverse, "An older form of ReverseV2. Reverses dimension i if dims[i] is true.")
    .Input("tensor", "T")
    .Input("dims", DT_BOOL)
    .Output("output", "T")
    .Attr("T", TypeAttr(RealTypes() | ComplexTypes() | TypeSet{DT_BOOL, DT_STRING}))
    .Undoes(ReversesBack)
    .Shape(ReverseShape)
        GRADIENT([](Backprop& b) { b.Into("tensor", Reverse(b.Of(0), b.Value("dims"))); });

OP(ReverseV2, "Reverses the dimensions in `axis`.")
    .Input("tensor", "T")
    .Input("axis", "Tidx")
    .Output("output", "T")
    .Attr("Tidx", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("T", TypeAttr(RealTypes() | ComplexTypes() | TypeSet{DT_BOOL, DT_STRING}))
    .Undoes(ReversesBack)
    .Shape(ReverseV2Shape)
        GRADIENT([](Backprop& b) { b.Into("tensor", ReverseV2(b.Of(0), b.Value("axis"))); });

OP(Transpose, "Permutes dimensions. Dimension i of the output is dimension perm[i] of x.")
    .With(TransposeOp)
    .Identity(KeepsOrder)
    .Undoes(TransposesBack)
    .Recompute(RecomputeCost::kElements) GRADIENT([](Backprop& b) {
      b.Into("x", Transpose(b.Of(0), InvertPermutation(b.Value("perm"))));
    });

}  // namespace
}  // namespace sluice
