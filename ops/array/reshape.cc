// Ops that change a tensor's shape and leave its elements where they are.

#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/shape_nodes.h"
#endif

namespace sluice {
namespace {

absl::Status CannotReshape(const PartialShape& in, const PartialShape& out, int64_t elements) {
  return InvalidArgument("Cannot reshape a tensor with ", in.num_elements(), " elements to shape ",
                         out.ToString(), " (", elements, " elements)");
}

// Sets the one unknown size of `out` so that it holds as many elements as `in`.
absl::Status InferMissingSize(const PartialShape& in, PartialShape& out) {
  int missing = -1;
  int64_t known = 1;
  for (int i = 0; i < out.rank(); ++i) {
    if (out.dim(i) >= 0) {
      known = MultiplyWithoutOverflow(known, out.dim(i));
      if (known < 0) return InvalidArgument("Shape ", out.ToString(), " is too large");
    } else if (missing >= 0) {
      return absl::OkStatus();  // two unknown sizes: the step will tell
    } else {
      missing = i;
    }
  }
  const int64_t n = in.num_elements();
  if (missing < 0) return n == known ? absl::OkStatus() : CannotReshape(in, out, known);
  if (known == 0) return absl::OkStatus();
  if (n % known != 0) return CannotReshape(in, out, known);
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

absl::Status ExpandDimsShape(ShapeContext& c) {
  const PartialShape& in = c.input(0);
  if (c.input(1).IsFullyDefined() && c.input(1).num_elements() != 1) {
    return InvalidArgument("'dim' input must be a tensor with a single value");
  }
  if (!in.rank_known()) return c.SetOutput(0, PartialShape());
  std::optional<std::vector<int64_t>> dim = c.InputInts(1);
  if (!dim || dim->size() != 1 || !c.InputValue(1)) {
    return c.SetOutput(0, PartialShape::UnknownOfRank(in.rank() + 1));
  }
  int64_t axis = (*dim)[0];
  if (axis < -in.rank() - 1 || axis > in.rank()) {
    return InvalidArgument("dim ", axis, " not in the interval [", -in.rank() - 1, ", ", in.rank(),
                           "].");
  }
  if (axis < 0) axis += in.rank() + 1;
  PartialShape out = PartialShape::Scalar();
  for (int i = 0; i <= in.rank(); ++i) {
    if (i == axis) out.AddDim(1);
    if (i < in.rank()) out.AddDim(in.dim(i));
  }
  return c.SetOutput(0, std::move(out));
}

absl::Status SqueezeShape(ShapeContext& c) {
  const PartialShape& in = c.input(0);
  if (!in.rank_known()) return c.SetOutput(0, PartialShape());
  std::vector<bool> named(in.rank());
  const auto& dims = c.attr<std::vector<int64_t>>("squeeze_dims");
  for (int64_t d : dims) {
    if (d < -in.rank() || d >= in.rank()) {
      return InvalidArgument("squeeze_dims[", d, "] not in [", -in.rank(), ",", in.rank(), ").");
    }
    named[d < 0 ? d + in.rank() : d] = true;
  }
  PartialShape out = PartialShape::Scalar();
  for (int i = 0; i < in.rank(); ++i) {
    if (dims.empty() && in.dim(i) < 0) return c.SetOutput(0, PartialShape());
    if (named[i] && in.dim(i) > 1) {
      return InvalidArgument("Can not squeeze dim[", i, "], expected a dimension of 1, got ",
                             in.dim(i));
    }
    if (named[i] || (dims.empty() && in.dim(i) == 1)) continue;
    out.AddDim(in.dim(i));
  }
  return c.SetOutput(0, std::move(out));
}

int64_t BitWidth(DataType t) { return static_cast<int64_t>(DataTypeSize(t)); }

// A last dimension comes or goes where the sizes of the types differ.
absl::Status BitcastShape(ShapeContext& c) {
  PartialShape in = c.input(0);
  if (!in.rank_known()) return c.SetOutput(0, PartialShape());
  const int64_t from = BitWidth(c.input_type(0));
  const int64_t to = BitWidth(c.output_type(0));
  if (from == 0 || to == 0) return InvalidArgument("Cannot bitcast between these types");
  PartialShape out(in.dims());
  if (from > to) {
    out.AddDim(from / to);
  } else if (from < to) {
    if (in.rank() == 0 || (in.dim(in.rank() - 1) >= 0 && in.dim(in.rank() - 1) != to / from)) {
      return InvalidArgument("Cannot bitcast from ", DataTypeName(c.input_type(0)), " to ",
                             DataTypeName(c.output_type(0)), " due to shape ", in.ToString());
    }
    out = PartialShape(in.dims().first(in.rank() - 1));
  }
  return c.SetOutput(0, std::move(out));
}

#ifndef SLUICE_DEFINITIONS_ONLY
void BackToInputShape(Backprop& b) { b.Into(0, ReshapedLike(b.Of(0), b.In(0))); }
#endif

OP(Bitcast,
   "The bytes of `input` read as another type; a last dimension comes or goes where the types'"
   " sizes differ.")
    .Input("input", "T")
    .Output("output", "type")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("type", TypeAttr(NumberTypes()))
    .Shape(BitcastShape);

OP(ExpandDims, "`input` with a dimension of size 1 put in at `dim`, counted from the end if < 0.")
    .Input("input", "T")
    .Input("dim", "Tdim")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("Tdim", TypeAttr(IndexTypes(), DT_INT32))
    .Shape(ExpandDimsShape) GRADIENT(BackToInputShape);

OP(Reshape, "The elements of `tensor`, in order, in the given shape; one size may be -1: the rest.")
    .Input("tensor", "T")
    .Input("shape", "Tshape")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("Tshape", TypeAttr(IndexTypes(), DT_INT32))
    .Shape(ReshapeShape) GRADIENT(BackToInputShape);

OP(Squeeze, "`input` without its dimensions of size 1, or without those named by `squeeze_dims`.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("squeeze_dims", IntListAttr({}).Min(0))
    .Shape(SqueezeShape) GRADIENT(BackToInputShape);

}  // namespace
}  // namespace sluice
