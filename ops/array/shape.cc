// Ops that return shapes, sizes and ranks, and ops that compute with shapes.
#include "graph/infer/constant_context.h"
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status ShapeOfInputs(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    SLUICE_RETURN_IF_ERROR(c.SetOutput(i, PartialShape::Vector(c.input(i).rank())));
  }
  return absl::OkStatus();
}

absl::Status BroadcastArgsShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape a, c.WithRank(0, 1));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape b, c.WithRank(1, 1));
  const bool known = a.dim(0) >= 0 && b.dim(0) >= 0;
  return c.SetOutput(0, PartialShape::Vector(known ? std::max(a.dim(0), b.dim(0)) : -1));
}

absl::Status TwoVectors(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(0, 1).status());
  SLUICE_RETURN_IF_ERROR(c.WithRank(1, 1).status());
  return c.SetOutputs(PartialShape::Vector());
}

absl::Status ConcatOffsetShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(0, 0).status());
  for (int i = 1; i < c.num_inputs(); ++i) {
    SLUICE_ASSIGN_OR_RETURN(PartialShape shape, c.WithRank(i, 1));
    SLUICE_RETURN_IF_ERROR(c.SetOutput(i - 1, std::move(shape)));
  }
  return absl::OkStatus();
}

absl::Status UnravelIndexShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape dims, c.WithRank(1, 1));
  const PartialShape& indices = c.input(0);
  if (!indices.rank_known()) return c.SetOutput(0, PartialShape());
  if (indices.rank() == 0) return c.SetOutput(0, dims);
  return c.SetOutput(0, PartialShape::Matrix(dims.dim(0), indices.num_elements()));
}

std::optional<PartialInts> ValueOfShape(ConstantContext& c) {
  return IntsOfShape(c.input_shape(c.output_index()));
}

std::optional<PartialInts> KnownScalar(int64_t value) {
  return value < 0 ? std::nullopt : std::make_optional(PartialInts::Scalar(value));
}

std::optional<PartialInts> ValueOfRank(ConstantContext& c) {
  return KnownScalar(c.input_shape(0).rank());
}

std::optional<PartialInts> ValueOfSize(ConstantContext& c) {
  return KnownScalar(c.input_shape(0).num_elements());
}

// Declares the type attributes of an op that returns a property of a tensor of any type, such as
// its shape.
void PropertyTypes(OpDefBuilder& op) {
  op.Attr("T", TypeAttr()).Attr("out_type", TypeAttr(IndexTypes(), DT_INT32)).NotDifferentiable();
}

OP(BroadcastArgs, "Computes the shape to which tensors of shapes `s0` and `s1` broadcast.")
    .Input("s0", "T")
    .Input("s1", "T")
    .Output("r0", "T")
    .Attr("T", TypeAttr(IndexTypes(), DT_INT32))
    .Shape(BroadcastArgsShape);

OP(BroadcastGradientArgs,
   "Returns the dimensions along which the gradients of tensors of shapes `s0` and `s1`, which "
   "were broadcast, must be summed.")
    .Input("s0", "T")
    .Input("s1", "T")
    .Output("r0", "T")
    .Output("r1", "T")
    .Attr("T", TypeAttr(IndexTypes(), DT_INT32))
    .NotDifferentiable()
    .Shape(TwoVectors);

OP(ConcatOffset,
   "Computes where each of N tensors of the given shapes starts in their concatenation along "
   "`concat_dim`.")
    .Input("concat_dim", DT_INT32)
    .Input("shape", "N*shape_type")
    .Output("offset", "N*shape_type")
    .Attr("N", IntAttr().Min(2))
    .Attr("shape_type", TypeAttr(IndexTypes(), DT_INT32))
    .NotDifferentiable()
    .Shape(ConcatOffsetShape);

OP(Rank, "Returns the number of dimensions of the input.")
    .Input("input", "T")
    .Output("output", DT_INT32)
    .Attr("T", TypeAttr())
    .NotDifferentiable()
    .QueriesShape(ShapeQuery::kNumber)
    .ConstantValue(ValueOfRank)
    .Shape(ScalarOutput());

OP(Shape, "Returns the shape of the input as a vector.")
    .Input("input", "T")
    .Output("output", "out_type")
    .With(PropertyTypes)
    .QueriesShape(ShapeQuery::kSizes)
    .ConstantValue(ValueOfShape)
    .Shape(ShapeOfInputs);

OP(ShapeN, "Returns the shapes of N tensors as vectors.")
    .Input("input", "N*T")
    .Output("output", "N*out_type")
    .Attr("N", IntAttr().Min(1))
    .With(PropertyTypes)
    .QueriesShape(ShapeQuery::kSizes)
    .ConstantValue(ValueOfShape)
    .Shape(ShapeOfInputs);

OP(Size, "Returns the number of elements of the input.")
    .Input("input", "T")
    .Output("output", "out_type")
    .With(PropertyTypes)
    .QueriesShape(ShapeQuery::kNumber)
    .ConstantValue(ValueOfSize)
    .Shape(ScalarOutput());

OP(UnravelIndex,
   "Converts indices in row-major order to coordinates in a tensor of shape `dims`. Column i of "
   "the output has the coordinates of indices[i].")
    .Input("indices", "Tidx")
    .Input("dims", "Tidx")
    .Output("output", "Tidx")
    .Attr("Tidx", TypeAttr(IndexTypes(), DT_INT32))
    .Shape(UnravelIndexShape);

}  // namespace
}  // namespace sluice
