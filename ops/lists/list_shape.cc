#include "ops/lists/list_shape.h"

namespace sluice::tensor_list {
namespace {

// A scalar -1 says nothing of the rank.
absl::StatusOr<PartialShape> ShapeInput(const ShapeContext& c, int i) {
  if (c.input(i).rank() == 0) {
    const std::optional<Tensor> value = c.InputValue(i);
    if (!value) return PartialShape();
    const int64_t n =
        value->dtype() == DT_INT64 ? value->scalar<int64_t>() : value->scalar<int32_t>();
    if (n != -1) return InvalidArgument("if element_shape is a scalar it must be -1, got ", n);
    return PartialShape();
  }
  return c.InputAsShape(i);
}

PartialShape Known(const ShapeContext& c, int list) {
  const HandleData* data = c.InputHandle(list);
  return data != nullptr ? data->shape : PartialShape();
}

PartialShape Rows(const PartialShape& shape) {
  if (!shape.rank_known() || shape.rank() == 0) return PartialShape();
  return PartialShape(shape.dims().subspan(1));
}

absl::Status GiveList(ShapeContext& c, PartialShape element) {
  c.SetOutputHandle(0, {c.attr<DataType>("element_dtype"), std::move(element)});
  return c.SetOutput(0, PartialShape::Scalar());
}

// The input list, which must agree with `element`.
absl::Status GiveSameList(ShapeContext& c, const PartialShape& element) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape merged, Known(c, 0).MergeWith(element));
  if (c.InputHandle(0) == nullptr) return c.SetOutput(0, PartialShape::Scalar());
  return GiveList(c, std::move(merged));
}

absl::StatusOr<PartialShape> ElementOf(const ShapeContext& c, int shape_input) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape given, ShapeInput(c, shape_input));
  return Known(c, 0).MergeWith(given);
}

}  // namespace

absl::Status NewListShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  SLUICE_ASSIGN_OR_RETURN(PartialShape element, ShapeInput(c, 0));
  return GiveList(c, std::move(element));
}

absl::Status PushBackShape(ShapeContext& c) { return GiveSameList(c, c.input(1)); }

absl::Status PopBackShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape element, ElementOf(c, 1));
  SLUICE_RETURN_IF_ERROR(c.SetOutput(1, element));
  return GiveSameList(c, element);
}

absl::Status ElementShapeShape(ShapeContext& c) {
  const PartialShape known = Known(c, 0);
  return c.SetOutput(0, known.rank_known() ? PartialShape::Vector(known.rank()) : PartialShape());
}

absl::Status SetItemShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  return GiveSameList(c, c.input(2));
}

absl::Status GetItemShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  SLUICE_ASSIGN_OR_RETURN(PartialShape element, ElementOf(c, 2));
  return c.SetOutput(0, std::move(element));
}

absl::Status StackShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape element, ElementOf(c, 1));
  const int64_t n = c.attr<int64_t>("num_elements");
  return c.SetOutput(0, PartialShape({n}).Concatenate(element));
}

absl::Status FromTensorShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape tensor, c.WithRankAtLeast(0, 1));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape given, ShapeInput(c, 1));
  SLUICE_ASSIGN_OR_RETURN(PartialShape element, Rows(tensor).MergeWith(given));
  return GiveList(c, std::move(element));
}

absl::Status GatherShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape element, ElementOf(c, 2));
  return c.SetOutput(0, c.input(1).Concatenate(element));
}

absl::Status ScatterShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape element, ShapeInput(c, 2));
  SLUICE_RETURN_IF_ERROR(c.WithRankAtLeast(0, 1).status());
  return GiveList(c, std::move(element));
}

absl::Status ScatterIntoShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRankAtLeast(1, 1).status());
  return GiveSameList(c, Rows(c.input(1)));
}

absl::Status ConcatShape(ShapeContext& c) {
  PartialShape given;
  if (c.num_inputs() > 1) {
    SLUICE_ASSIGN_OR_RETURN(given, ShapeInput(c, 1));
  } else {
    given = c.attr<PartialShape>("element_shape");
  }
  SLUICE_ASSIGN_OR_RETURN(const PartialShape element, Known(c, 0).MergeWith(given));
  SLUICE_RETURN_IF_ERROR(c.SetOutput(1, PartialShape::Vector()));
  const bool is_known = element.rank() > 0;
  return c.SetOutput(0, is_known ? PartialShape({-1}).Concatenate(Rows(element)) : PartialShape());
}

absl::Status SplitShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRankAtLeast(0, 1).status());
  SLUICE_RETURN_IF_ERROR(c.WithRank(2, 1).status());
  SLUICE_ASSIGN_OR_RETURN(PartialShape element, ShapeInput(c, 1));
  return GiveList(c, std::move(element));
}

absl::Status ResizeShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  if (const HandleData* data = c.InputHandle(0)) c.SetOutputHandle(0, *data);
  return c.SetOutput(0, PartialShape::Scalar());
}

}  // namespace sluice::tensor_list
