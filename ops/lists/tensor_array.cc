// Ops on arrays of tensors, which live as long as a step. Loops write to them and read from them.
//
// The V3 ops name an array by a resource handle, the V2 ops by two strings, and the ops of older
// graphs by a reference to two strings. All access the same objects. The handle data of a handle
// has what is known of the shape of the elements.
#include "graph/infer/expect_size.h"
#include "graph/op/mixins.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/lists/array_gradient.h"
#endif

namespace sluice {
namespace {

// --- shapes

absl::Status CheckScalars(const ShapeContext& c, std::initializer_list<int> inputs) {
  for (int i : inputs) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  return absl::OkStatus();
}

// Checks the handle. In TensorFlow's shape functions, resource handles are vectors of size 2, too.
absl::Status CheckHandle(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape handle, c.WithRank(0, 1));
  if (!handle.rank_known()) return absl::OkStatus();
  return ExpectSize(handle.dim(0), 2);
}

PartialShape DeclaredElement(const ShapeContext& c) {
  const HandleData* data = c.InputHandle(0);
  return data != nullptr ? data->shape : PartialShape();
}

PartialShape ArrayRow(const PartialShape& shape) {
  if (!shape.rank_known() || shape.rank() == 0) return PartialShape();
  return PartialShape(shape.dims().subspan(1));
}

// Sets the shapes of the outputs: the handle and, in V3, the flow.
absl::Status SetHandleAndFlow(ShapeContext& c) {
  if (c.num_outputs() > 1) SLUICE_RETURN_IF_ERROR(c.SetOutput(1, PartialShape::Scalar()));
  return c.SetOutput(0, PartialShape::Vector(2));
}

absl::Status ArrayShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(CheckScalars(c, {0}));
  HandleData data;
  data.dtype = c.attr<DataType>("dtype");
  if (c.has_attr("identical_element_shapes") && c.attr<bool>("identical_element_shapes")) {
    data.shape = c.attr<PartialShape>("element_shape");
  }
  c.SetOutputHandle(0, data);
  return SetHandleAndFlow(c);
}

absl::Status GradShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(CheckHandle(c));
  SLUICE_RETURN_IF_ERROR(CheckScalars(c, {1}));
  if (const HandleData* data = c.InputHandle(0)) {
    HandleData grad = *data;
    if (c.num_inputs() > 2) {
      SLUICE_ASSIGN_OR_RETURN(const PartialShape prepended, c.InputAsShape(2));
      grad.shape = prepended.Concatenate(grad.shape);
    }
    c.SetOutputHandle(0, grad);
  }
  return SetHandleAndFlow(c);
}

// --- handles

void UsesRefArray(OpDefBuilder& op) { op.RefInput("handle", DT_STRING); }
void UsesStringArray(OpDefBuilder& op) {
  op.Input("handle", DT_STRING).Impure(Impurity::kNamesObject);
}
void UsesArray(OpDefBuilder& op) { op.Input("handle", DT_RESOURCE).Stateful(); }

// --- accesses; `flow_in` orders them and is the last input

void ReturnsFlow(OpDefBuilder& op) {
  op.Input("flow_in", DT_FLOAT).Output("flow_out", DT_FLOAT).Attr("T", TypeAttr());
}

void Closes(OpDefBuilder& op) { op.NotDifferentiable().Shape(CheckHandle); }

void Concats(OpDefBuilder& op) {
  op.Input("flow_in", DT_FLOAT)
      .Output("value", "dtype")
      .Output("lengths", DT_INT64)
      .Attr("dtype", TypeAttr())
      .Attr("element_shape_except0", ShapeAttr(PartialShape()))
      .Shape([](ShapeContext& c) -> absl::Status {
        SLUICE_RETURN_IF_ERROR(CheckHandle(c));
        SLUICE_RETURN_IF_ERROR(CheckScalars(c, {1}));
        SLUICE_RETURN_IF_ERROR(c.SetOutput(1, PartialShape::Vector()));
        return c.SetOutput(0, PartialShape());
      }) GRADIENT(TensorArrayConcatGradient);
}

void Gathers(OpDefBuilder& op) {
  op.Input("indices", DT_INT32)
      .Input("flow_in", DT_FLOAT)
      .Output("value", "dtype")
      .Attr("dtype", TypeAttr())
      .Attr("element_shape", ShapeAttr(PartialShape()))
      .Shape([](ShapeContext& c) -> absl::Status {
        SLUICE_RETURN_IF_ERROR(CheckHandle(c));
        SLUICE_ASSIGN_OR_RETURN(const PartialShape indices, c.WithRank(1, 1));
        SLUICE_RETURN_IF_ERROR(CheckScalars(c, {2}));
        return c.SetOutput(0, indices.Concatenate(DeclaredElement(c)));
      }) GRADIENT(TensorArrayGatherGradient);
}

void MakesGradientArray(OpDefBuilder& op) {
  op.Input("flow_in", DT_FLOAT)
      .Attr("source", StringAttr())
      .Stateful()
      .NotDifferentiable()
      .Shape(GradShape);
}

void Reads(OpDefBuilder& op) {
  op.Input("index", DT_INT32)
      .Input("flow_in", DT_FLOAT)
      .Output("value", "dtype")
      .Attr("dtype", TypeAttr())
      .Shape([](ShapeContext& c) -> absl::Status {
        SLUICE_RETURN_IF_ERROR(CheckHandle(c));
        SLUICE_RETURN_IF_ERROR(CheckScalars(c, {1, 2}));
        return c.SetOutput(0, DeclaredElement(c));
      }) GRADIENT(TensorArrayReadGradient);
}

void Scatters(OpDefBuilder& op) {
  op.Input("indices", DT_INT32)
      .Input("value", "T")
      .With(ReturnsFlow)
      .Shape([](ShapeContext& c) -> absl::Status {
        SLUICE_RETURN_IF_ERROR(CheckHandle(c));
        SLUICE_ASSIGN_OR_RETURN(const PartialShape indices, c.WithRank(1, 1));
        SLUICE_RETURN_IF_ERROR(CheckScalars(c, {3}));
        SLUICE_ASSIGN_OR_RETURN(const PartialShape value, c.WithRankAtLeast(2, 1));
        const int64_t rows = value.rank_known() ? value.dim(0) : -1;
        SLUICE_RETURN_IF_ERROR(MergeDim(indices.dim(0), rows).status());
        SLUICE_RETURN_IF_ERROR(DeclaredElement(c).MergeWith(ArrayRow(value)).status());
        return c.SetOutput(0, PartialShape::Scalar());
      }) GRADIENT(TensorArrayScatterGradient);
}

void ReturnsSize(OpDefBuilder& op) {
  op.Input("flow_in", DT_FLOAT)
      .Output("size", DT_INT32)
      .NotDifferentiable()
      .Shape([](ShapeContext& c) {
        SLUICE_RETURN_IF_ERROR(CheckHandle(c));
        return c.SetOutput(0, PartialShape::Scalar());
      });
}

void Splits(OpDefBuilder& op) {
  op.Input("value", "T")
      .Input("lengths", DT_INT64)
      .With(ReturnsFlow)
      .Shape([](ShapeContext& c) -> absl::Status {
        SLUICE_RETURN_IF_ERROR(CheckHandle(c));
        SLUICE_RETURN_IF_ERROR(c.WithRank(2, 1).status());
        SLUICE_RETURN_IF_ERROR(CheckScalars(c, {3}));
        return c.SetOutput(0, PartialShape::Scalar());
      }) GRADIENT(TensorArraySplitGradient);
}

void Writes(OpDefBuilder& op) {
  op.Input("index", DT_INT32)
      .Input("value", "T")
      .With(ReturnsFlow)
      .Shape([](ShapeContext& c) -> absl::Status {
        SLUICE_RETURN_IF_ERROR(CheckHandle(c));
        SLUICE_RETURN_IF_ERROR(CheckScalars(c, {1, 3}));
        SLUICE_RETURN_IF_ERROR(DeclaredElement(c).MergeWith(c.input(2)).status());
        return c.SetOutput(0, PartialShape::Scalar());
      }) GRADIENT(TensorArrayWriteGradient);
}

OP(TensorArrayCloseV3, "Drops the elements. The array cannot be used any more.")
    .With(UsesArray)
    .With(Closes);

OP(TensorArrayConcatV3,
   "Concatenates all elements along their first dimension. `lengths` are their first sizes.")
    .With(UsesArray)
    .With(Concats)
    .Repeatable();

OP(TensorArrayGatherV3, "Stacks the elements at `indices` along a new first dimension.")
    .With(UsesArray)
    .With(Gathers)
    .Repeatable();

OP(TensorArrayGradV3,
   "Returns the array for the gradients of the elements. It has as many elements as the array has "
   "now, which stops growing. Repeated writes of an element are added. `source` names the call of "
   "Gradients. Equal names yield the same array.")
    .With(UsesArray)
    .With(MakesGradientArray)
    .Output("grad_handle", DT_RESOURCE)
    .Output("flow_out", DT_FLOAT)
    .Repeatable();

OP(TensorArrayGradWithShape,
   "Returns an array as TensorArrayGradV3 does, whose element shapes begin with "
   "`shape_to_prepend`.")
    .With(UsesArray)
    .With(MakesGradientArray)
    .Input("shape_to_prepend", DT_INT32)
    .Output("grad_handle", DT_RESOURCE)
    .Output("flow_out", DT_FLOAT);

OP(TensorArrayReadV3,
   "Reads element `index`. It is zeros if it was never written and its shape is known.")
    .With(UsesArray)
    .With(Reads)
    .Repeatable();

OP(TensorArrayScatterV3, "Writes the rows of `value` to the elements at `indices`.")
    .With(UsesArray)
    .With(Scatters)
    .Repeatable();

OP(TensorArraySizeV3, "Returns the number of elements.")
    .With(UsesArray)
    .With(ReturnsSize)
    .Repeatable();

OP(TensorArraySplitV3,
   "Writes parts of `value` with `lengths[i]` rows each to the elements 0, 1, and so on.")
    .With(UsesArray)
    .With(Splits)
    .Repeatable();

OP(TensorArrayV3,
   "Makes an array of `size` tensors that lives as long as the step. With `dynamic_size`, a write "
   "past the end makes it grow. With `clear_after_read`, an element can be read once, which frees "
   "its memory. All elements must be compatible with `element_shape`. With "
   "`identical_element_shapes`, they have the shape of the first write. `flow` has no meaning but "
   "orders the accesses.")
    .Input("size", DT_INT32)
    .Output("handle", DT_RESOURCE)
    .Output("flow", DT_FLOAT)
    .Attr("dtype", TypeAttr())
    .Attr("element_shape", ShapeAttr(PartialShape()))
    .Attr("dynamic_size", BoolAttr(false))
    .Attr("clear_after_read", BoolAttr(true))
    .Attr("identical_element_shapes", BoolAttr(false))
    .Attr("tensor_array_name", StringAttr(""))
    .Stateful()
    .NotDifferentiable()
    .Repeatable()
    .Shape(ArrayShape);

OP(TensorArrayWriteV3, "Writes element `index`. Only the array of a gradient allows repetition.")
    .With(UsesArray)
    .With(Writes)
    .Repeatable();

// --- deprecated forms

OP(TensorArray, "Deprecated form of TensorArrayV3.")
    .Input("size", DT_INT32)
    .RefOutput("handle", DT_STRING)
    .Attr("dtype", TypeAttr())
    .Attr("dynamic_size", BoolAttr(false))
    .Attr("clear_after_read", BoolAttr(true))
    .Attr("tensor_array_name", StringAttr(""))
    .Attr("element_shape", ShapeAttr(PartialShape()))
    .Hidden()
    .Stateful()
    .Deprecated(16, "Use TensorArrayV3")
    .NotDifferentiable()
    .Shape(ArrayShape);

OP(TensorArrayV2, "Deprecated form of TensorArrayV3.")
    .Input("size", DT_INT32)
    .Output("handle", DT_STRING)
    .Attr("dtype", TypeAttr())
    .Attr("element_shape", ShapeAttr(PartialShape()))
    .Attr("dynamic_size", BoolAttr(false))
    .Attr("clear_after_read", BoolAttr(true))
    .Attr("tensor_array_name", StringAttr(""))
    .Stateful()
    .Deprecated(26, "Use TensorArrayV3")
    .NotDifferentiable()
    .Shape(ArrayShape);

OP(TensorArrayClose, "Deprecated form of TensorArrayCloseV3.")
    .With(UsesRefArray)
    .With(Closes)
    .Deprecated(16, "Use TensorArrayCloseV3");

OP(TensorArrayCloseV2, "Deprecated form of TensorArrayCloseV3.")
    .With(UsesStringArray)
    .With(Closes)
    .Deprecated(26, "Use TensorArrayCloseV3");

OP(TensorArrayConcat, "Deprecated form of TensorArrayConcatV3.")
    .With(UsesRefArray)
    .With(Concats)
    .Deprecated(16, "Use TensorArrayConcatV3");

OP(TensorArrayConcatV2, "Deprecated form of TensorArrayConcatV3.")
    .With(UsesStringArray)
    .With(Concats);

OP(TensorArrayGather, "Deprecated form of TensorArrayGatherV3.")
    .With(UsesRefArray)
    .With(Gathers)
    .Deprecated(16, "Use TensorArrayGatherV3");

OP(TensorArrayGatherV2, "Deprecated form of TensorArrayGatherV3.")
    .With(UsesStringArray)
    .With(Gathers)
    .Deprecated(26, "Use TensorArrayGatherV3");

OP(TensorArrayGrad, "Deprecated form of TensorArrayGradV3.")
    .Input("handle", DT_STRING)
    .With(MakesGradientArray)
    .RefOutput("grad_handle", DT_STRING)
    .Deprecated(16, "Use TensorArrayGradV3");

OP(TensorArrayGradV2, "Deprecated form of TensorArrayGradV3.")
    .Input("handle", DT_STRING)
    .With(MakesGradientArray)
    .Output("grad_handle", DT_STRING)
    .Deprecated(26, "Use TensorArrayGradV3");

OP(TensorArrayPack, "Deprecated. Stacks all elements along a new first dimension.")
    .With(UsesRefArray)
    .Input("flow_in", DT_FLOAT)
    .Output("value", "dtype")
    .Attr("dtype", TypeAttr())
    .Attr("element_shape", ShapeAttr(PartialShape()))
    .Deprecated(16, "Use TensorArrayGatherV3 with a range")
    .Shape(UnknownOutputs());

OP(TensorArrayRead, "Deprecated form of TensorArrayReadV3.")
    .With(UsesRefArray)
    .With(Reads)
    .Deprecated(16, "Use TensorArrayReadV3");

OP(TensorArrayReadV2, "Deprecated form of TensorArrayReadV3.")
    .With(UsesStringArray)
    .With(Reads)
    .Deprecated(26, "Use TensorArrayReadV3");

OP(TensorArrayScatter, "Deprecated form of TensorArrayScatterV3.")
    .With(UsesRefArray)
    .With(Scatters)
    .Deprecated(19, "Use TensorArrayScatterV3");

OP(TensorArrayScatterV2, "Deprecated form of TensorArrayScatterV3.")
    .With(UsesStringArray)
    .With(Scatters)
    .Deprecated(26, "Use TensorArrayScatterV3");

OP(TensorArraySize, "Deprecated form of TensorArraySizeV3.")
    .With(UsesRefArray)
    .With(ReturnsSize)
    .Deprecated(16, "Use TensorArraySizeV3");

OP(TensorArraySizeV2, "Deprecated form of TensorArraySizeV3.")
    .With(UsesStringArray)
    .With(ReturnsSize)
    .Deprecated(26, "Use TensorArraySizeV3");

OP(TensorArraySplit, "Deprecated form of TensorArraySplitV3.")
    .With(UsesRefArray)
    .With(Splits)
    .Deprecated(16, "Use TensorArraySplitV3");

OP(TensorArraySplitV2, "Deprecated form of TensorArraySplitV3.")
    .With(UsesStringArray)
    .With(Splits)
    .Deprecated(26, "Use TensorArraySplitV3");

OP(TensorArrayUnpack, "Deprecated. Writes the rows of `value` to the elements.")
    .With(UsesRefArray)
    .Input("value", "T")
    .With(ReturnsFlow)
    .Deprecated(20, "Use TensorArrayScatterV3 with a range")
    .Shape(ScalarOutput());

OP(TensorArrayWrite, "Deprecated form of TensorArrayWriteV3.")
    .With(UsesRefArray)
    .With(Writes)
    .Deprecated(16, "Use TensorArrayWriteV3");

OP(TensorArrayWriteV2, "Deprecated form of TensorArrayWriteV3.")
    .With(UsesStringArray)
    .With(Writes)
    .Deprecated(26, "Use TensorArrayWriteV3");

}  // namespace
}  // namespace sluice
