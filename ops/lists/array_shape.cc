#include "ops/lists/array_shape.h"

namespace sluice {
namespace {

absl::Status CheckScalars(const ShapeContext& c, std::initializer_list<int> inputs) {
  for (int i : inputs) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  return absl::OkStatus();
}

// Handles are vectors of two in the shape functions of TensorFlow, resources or not.
absl::Status CheckHandle(const ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape handle, c.WithRank(0, 1));
  if (!handle.rank_known()) return absl::OkStatus();
  return MergeDim(handle.dim(0), 2).status();
}

// The element's shape must be what the array was declared with, as far as either is known.
absl::Status CheckElement(const ShapeContext& c, const PartialShape& element) {
  const HandleData* data = c.InputHandle(0);
  if (data == nullptr) return absl::OkStatus();
  return data->shape.MergeWith(element).status();
}

PartialShape Rest(const PartialShape& shape) {
  if (!shape.rank_known() || shape.rank() == 0) return PartialShape();
  return PartialShape(shape.dims().subspan(1));
}

PartialShape Element(const ShapeContext& c) {
  const HandleData* data = c.InputHandle(0);
  return data != nullptr ? data->shape : PartialShape();
}

}  // namespace

absl::Status TensorArrayShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(CheckScalars(c, {0}));
  HandleData data;
  data.dtype = c.attr<DataType>("dtype");
  if (c.has_attr("identical_element_shapes") && c.attr<bool>("identical_element_shapes")) {
    data.shape = c.attr<PartialShape>("element_shape");
  }
  c.SetOutputHandle(0, data);
  if (c.num_outputs() > 1) SLUICE_RETURN_IF_ERROR(c.SetOutput(1, PartialShape::Scalar()));
  return c.SetOutput(0, PartialShape::Vector(2));
}

absl::Status TensorArrayGradShape(ShapeContext& c) {
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
  if (c.num_outputs() > 1) SLUICE_RETURN_IF_ERROR(c.SetOutput(1, PartialShape::Scalar()));
  return c.SetOutput(0, PartialShape::Vector(2));
}

absl::Status TensorArrayWriteShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(CheckHandle(c));
  SLUICE_RETURN_IF_ERROR(CheckScalars(c, {1, 3}));
  SLUICE_RETURN_IF_ERROR(CheckElement(c, c.input(2)));
  return c.SetOutput(0, PartialShape::Scalar());
}

absl::Status TensorArrayReadShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(CheckHandle(c));
  SLUICE_RETURN_IF_ERROR(CheckScalars(c, {1, 2}));
  return c.SetOutput(0, Element(c));
}

absl::Status TensorArrayGatherShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(CheckHandle(c));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape indices, c.WithRank(1, 1));
  SLUICE_RETURN_IF_ERROR(CheckScalars(c, {2}));
  return c.SetOutput(0, indices.Concatenate(Element(c)));
}

absl::Status TensorArrayScatterShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(CheckHandle(c));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape indices, c.WithRank(1, 1));
  SLUICE_RETURN_IF_ERROR(CheckScalars(c, {3}));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape value, c.WithRankAtLeast(2, 1));
  SLUICE_RETURN_IF_ERROR(MergeDim(indices.dim(0), value.rank_known() ? value.dim(0) : -1).status());
  SLUICE_RETURN_IF_ERROR(CheckElement(c, Rest(value)));
  return c.SetOutput(0, PartialShape::Scalar());
}

absl::Status TensorArrayConcatShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(CheckHandle(c));
  SLUICE_RETURN_IF_ERROR(CheckScalars(c, {1}));
  SLUICE_RETURN_IF_ERROR(c.SetOutput(1, PartialShape::Vector()));
  return c.SetOutput(0, PartialShape());
}

absl::Status TensorArraySplitShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(CheckHandle(c));
  SLUICE_RETURN_IF_ERROR(c.WithRank(2, 1).status());
  SLUICE_RETURN_IF_ERROR(CheckScalars(c, {3}));
  return c.SetOutput(0, PartialShape::Scalar());
}

absl::Status TensorArraySizeShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(CheckHandle(c));
  return c.SetOutput(0, PartialShape::Scalar());
}

absl::Status TensorArrayCloseShape(ShapeContext& c) { return CheckHandle(c); }

}  // namespace sluice
