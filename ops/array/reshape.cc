// Ops that change the shape or type of a tensor but do not move its elements.
#include "graph/infer/constant_context.h"
#include "graph/infer/view_sizes.h"
#include "graph/ir/constant.h"
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status CannotReshape(const PartialShape& in, const PartialShape& out, int64_t elements) {
  return InvalidArgument("Cannot reshape a tensor with ", in.num_elements(), " elements to shape ",
                         out.ToString(), " (", elements, " elements)");
}

// Sets the only unknown size of `out` so that it has as many elements as `in`.
absl::Status InferMissingSize(const PartialShape& in, PartialShape& out) {
  int missing = -1;
  int64_t known = 1;
  for (int i = 0; i < out.rank(); ++i) {
    if (out.dim(i) >= 0) {
      known = MultiplyWithoutOverflow(known, out.dim(i));
      SLUICE_INVALID_IF(known < 0, "Shape ", out.ToString(), " is too large");
    } else if (missing >= 0) {
      return absl::OkStatus();  // several unknown sizes
    } else {
      missing = i;
    }
  }
  const int64_t n = in.num_elements();
  if (missing < 0) return n == known ? absl::OkStatus() : CannotReshape(in, out, known);
  if (known == 0) return n == 0 ? absl::OkStatus() : CannotReshape(in, out, known);
  SLUICE_INVALID_IF(n % known != 0, "Dimension size must be evenly divisible by ", known,
                    " but is ", n, ": ", in.ToString(), " has no shape ", out.ToString());
  out.set_dim(missing, n / known);
  return absl::OkStatus();
}

absl::Status ReshapeShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape out, c.InputAsShape(1));
  if (c.input(0).IsFullyDefined() && out.rank_known()) {
    SLUICE_RETURN_IF_ERROR(InferMissingSize(c.input(0), out));
  }
  return c.SetOutput(0, std::move(out));
}

PartialShape WithDimAt(const PartialShape& in, int64_t axis) {
  PartialShape out = PartialShape::Scalar();
  for (int i = 0; i <= in.rank(); ++i) {
    if (i == axis) out.AddDim(1);
    if (i < in.rank()) out.AddDim(in.dim(i));
  }
  return out;
}

absl::Status ExpandDimsShape(ShapeContext& c) {
  const PartialShape& in = c.input(0);
  SLUICE_INVALID_IF(c.input(1).IsFullyDefined() && c.input(1).num_elements() != 1,
                    "'dim' input must be a tensor with a single value");
  if (!in.rank_known()) return c.SetOutput(0, PartialShape());
  std::optional<std::vector<int64_t>> dim = c.InputInts(1);
  if (!dim || dim->size() != 1 || !c.InputValue(1)) {
    return c.SetOutput(0, PartialShape::UnknownOfRank(in.rank() + 1));
  }
  int64_t axis = (*dim)[0];
  SLUICE_INVALID_IF(axis < -in.rank() - 1 || axis > in.rank(), "dim ", axis,
                    " not in the interval [", -in.rank() - 1, ", ", in.rank(), "].");
  if (axis < 0) axis += in.rank() + 1;
  return c.SetOutput(0, WithDimAt(in, axis));
}

// Returns, for each dimension, whether `dims` contains it.
absl::StatusOr<std::vector<bool>> AreNamed(const std::vector<int64_t>& dims, int rank) {
  std::vector<bool> named(rank);
  for (int64_t d : dims) {
    SLUICE_INVALID_IF(d < -rank || d >= rank, "squeeze_dims[", d, "] not in [", -rank, ",", rank,
                      ").");
    named[d < 0 ? d + rank : d] = true;
  }
  return named;
}

absl::Status SqueezeShape(ShapeContext& c) {
  const PartialShape& in = c.input(0);
  if (!in.rank_known()) return c.SetOutput(0, PartialShape());
  const auto& dims = c.attr<std::vector<int64_t>>("squeeze_dims");
  SLUICE_ASSIGN_OR_RETURN(const std::vector<bool> named, AreNamed(dims, in.rank()));
  PartialShape out = PartialShape::Scalar();
  for (int i = 0; i < in.rank(); ++i) {
    if (dims.empty() && in.dim(i) < 0) return c.SetOutput(0, PartialShape());
    SLUICE_INVALID_IF(named[i] && in.dim(i) > 1, "Can not squeeze dim[", i,
                      "], expected a dimension of 1, got ", in.dim(i));
    if (named[i] || (dims.empty() && in.dim(i) == 1)) continue;
    out.AddDim(in.dim(i));
  }
  return c.SetOutput(0, std::move(out));
}

// If the two types differ in size, Bitcast adds or removes a last dimension.
absl::Status BitcastShape(ShapeContext& c) {
  PartialShape in = c.input(0);
  if (!in.rank_known()) return c.SetOutput(0, PartialShape());
  const auto from = static_cast<int64_t>(DataTypeSize(c.input_type(0)));
  const auto to = static_cast<int64_t>(DataTypeSize(c.output_type(0)));
  SLUICE_INVALID_IF(from == 0 || to == 0, "Cannot bitcast between these types");
  PartialShape out(in.dims());
  if (from > to) {
    out.AddDim(from / to);
  } else if (from < to) {
    SLUICE_RETURN_IF_ERROR(c.WithRankAtLeast(0, 1).status());
    SLUICE_INVALID_IF((in.dim(in.rank() - 1) >= 0 && in.dim(in.rank() - 1) != to / from),
                      "Cannot bitcast from ", DataTypeName(c.input_type(0)), " to ",
                      DataTypeName(c.output_type(0)), " due to shape ", in.ToString());
    out = PartialShape(in.dims().first(in.rank() - 1));
  }
  return c.SetOutput(0, std::move(out));
}

#ifndef SLUICE_DEFINITIONS_ONLY
void ReshapeGradient(Backprop& b) { b.Into(0, ReshapedLike(b.Of(0), b.In(0))); }
#endif

// The sizes of a shape: the product of the known sizes, and the unknown or symbolic ones.
struct Factors {
  int64_t known = 1;  // -1 if the product overflows
  ViewSizes others;
};

Factors FactorsOf(absl::Span<const int64_t> sizes) {
  Factors factors;
  for (int64_t size : sizes) {
    if (size < 0) {
      factors.others.push_back(size);
    } else if (factors.known >= 0) {
      factors.known = MultiplyWithoutOverflow(factors.known, size);
    }
  }
  return factors;
}

// Returns the size that -1 stands for in a Reshape whose other sizes have the product `known` > 0:
// kAnySize if it depends on unknown sizes, nothing if the sizes do not fit.
std::optional<int64_t> MissingSize(const Factors& in, int64_t known) {
  if (in.known % known != 0) return std::nullopt;
  if (in.others.empty() || in.known == 0) return in.known / known;
  return in.others.size() == 1 && in.known == known ? in.others[0] : kAnySize;
}

std::optional<ViewSizes> SizesAfterReshape(const Node& node, const ViewSizes& in) {
  const std::optional<std::vector<int64_t>> wanted = ConstantInts(node.input(1));
  if (!wanted || wanted->size() > TensorShape::kMaxRank) return std::nullopt;
  ViewSizes out(wanted->begin(), wanted->end());
  const Factors from = FactorsOf(in), to = FactorsOf(out);
  if (from.known < 0 || to.known < 0 || to.others.size() > 1) return std::nullopt;
  if (to.others.empty()) {
    if (!from.others.empty() || from.known != to.known) return std::nullopt;
    return out;
  }
  // With a size of 0, the product does not determine the size that -1 stands for.
  if (to.others[0] != -1 || to.known == 0) return std::nullopt;
  const std::optional<int64_t> missing = MissingSize(from, to.known);
  if (!missing) return std::nullopt;
  *std::find(out.begin(), out.end(), -1) = *missing;
  return out;
}

std::optional<ViewSizes> SizesAfterExpandDims(const Node& node, const ViewSizes& in) {
  const std::optional<std::vector<int64_t>> dim = ConstantInts(node.input(1));
  const int64_t rank = static_cast<int64_t>(in.size());
  if (!dim || dim->size() != 1 || (*dim)[0] < -rank - 1 || (*dim)[0] > rank) return std::nullopt;
  ViewSizes out = in;
  out.insert(out.begin() + ((*dim)[0] < 0 ? (*dim)[0] + rank + 1 : (*dim)[0]), 1);
  return out;
}

// Returns, for each dimension, whether `dims` contains it. Returns nothing if a dimension in `dims`
// is not known to have size 1.
std::optional<std::vector<bool>> Squeezed(const std::vector<int64_t>& dims, const ViewSizes& in) {
  const int64_t rank = static_cast<int64_t>(in.size());
  std::vector<bool> goes(rank);
  for (int64_t d : dims) {
    if (d < -rank || d >= rank || in[d < 0 ? d + rank : d] != 1) return std::nullopt;
    goes[d < 0 ? d + rank : d] = true;
  }
  return goes;
}

std::optional<ViewSizes> SizesAfterSqueeze(const Node& node, const ViewSizes& in) {
  const auto* dims = node.FindAttr<std::vector<int64_t>>("squeeze_dims");
  const int64_t rank = static_cast<int64_t>(in.size());
  if (dims == nullptr) return std::nullopt;
  const std::optional<std::vector<bool>> goes = Squeezed(*dims, in);
  if (!goes) return std::nullopt;
  ViewSizes out;
  for (int64_t d = 0; d < rank; ++d) {
    if (dims->empty() && in[d] < 0) return std::nullopt;  // it may be 1
    if (!(*goes)[d] && !(dims->empty() && in[d] == 1)) out.push_back(in[d]);
  }
  return out;
}

std::optional<PartialInts> ValueOfView(ConstantContext& c) {
  std::optional<PartialInts> ints = c.Input(0);
  const int rank = c.node().output_shape(0).rank();
  if (!ints || rank < 0 || rank > 1 || (rank == 0 && ints->values.size() != 1)) return std::nullopt;
  ints->is_scalar = rank == 0;
  return ints;
}

OP(Bitcast,
   "Reads the bytes of the input as another type. Types of different sizes add or remove a last "
   "dimension.")
    .Input("input", "T")
    .Output("output", "type")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("type", TypeAttr(NumberTypes()))
    .View()
    .Shape(BitcastShape);

OP(ExpandDims, "Inserts a dimension of size 1 at `dim`. Negative numbers count from the end.")
    .Input("input", "T")
    .Input("dim", "Tdim")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("Tdim", TypeAttr(IndexTypes(), DT_INT32))
    .View(SizesAfterExpandDims)
    .ConstantValue(ValueOfView)
    .Recompute(RecomputeCost::kElements)
    .Shape(ExpandDimsShape) GRADIENT(ReshapeGradient);

OP(Reshape, "Changes the shape and keeps the order of elements. A size of -1 is computed.")
    .Input("tensor", "T")
    .Input("shape", "Tshape")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("Tshape", TypeAttr(IndexTypes(), DT_INT32))
    .View(SizesAfterReshape)
    .ConstantValue(ValueOfView)
    .Recompute(RecomputeCost::kElements)
    .ShapeInput(1)
    .Shape(ReshapeShape) GRADIENT(ReshapeGradient);

OP(Squeeze, "Removes all dimensions of size 1, or those in `squeeze_dims`.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("squeeze_dims", IntListAttr({}).Min(0))
    .View(SizesAfterSqueeze)
    .ConstantValue(ValueOfView)
    .Recompute(RecomputeCost::kElements)
    .Shape(SqueezeShape) GRADIENT(ReshapeGradient);

}  // namespace
}  // namespace sluice
