// Ops on lists of tensors. Lists are values: an op returns a new list and does not change its
// input. Functional loops use lists to keep the values that their gradients need.
//
// A list is a scalar variant. Its handle data has what is known of the shape of its elements. The
// gradient of a list is a list of gradients.
// Reference: TensorFlow's list_ops.py.
#include "graph/op/mixins.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "graph/build/core_ops.h"
#include "ops/lists/list_builders.h"
#endif

namespace sluice {
namespace {

// --- shapes

// Returns input i as the shape of elements. A scalar -1 stands for an unknown rank.
absl::StatusOr<PartialShape> ShapeInput(const ShapeContext& c, int i) {
  if (c.input(i).rank() == 0) {
    const std::optional<Tensor> value = c.InputValue(i);
    if (!value) return PartialShape();
    const int64_t n =
        value->dtype() == DT_INT64 ? value->scalar<int64_t>() : value->scalar<int32_t>();
    SLUICE_INVALID_IF(n != -1, "if element_shape is a scalar it must be -1, got ", n);
    return PartialShape();
  }
  return c.InputAsShape(i);
}

// Returns the shape of elements in a list's handle data.
PartialShape KnownElement(const ShapeContext& c, int list) {
  const HandleData* data = c.InputHandle(list);
  return data != nullptr ? data->shape : PartialShape();
}

PartialShape ListRow(const PartialShape& shape) {
  if (!shape.rank_known() || shape.rank() == 0) return PartialShape();
  return PartialShape(shape.dims().subspan(1));
}

absl::Status SetListOutput(ShapeContext& c, PartialShape element) {
  c.SetOutputHandle(0, {c.attr<DataType>("element_dtype"), std::move(element)});
  return c.SetOutput(0, PartialShape::Scalar());
}

// Gives output 0 the handle data of the list in input 0. Checks that the shape of its elements is
// compatible with `element`, but does not narrow it, because other elements may have other shapes.
absl::Status SetSameListOutput(ShapeContext& c, const PartialShape& element) {
  SLUICE_RETURN_IF_ERROR(KnownElement(c, 0).MergeWith(element).status());
  if (c.InputHandle(0) == nullptr) return c.SetOutput(0, PartialShape::Scalar());
  return SetListOutput(c, KnownElement(c, 0));
}

// Returns the element shape of the list in input 0, merged with the shape that is the value of
// input `shape_input`.
absl::StatusOr<PartialShape> MergedElement(const ShapeContext& c, int shape_input) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape given, ShapeInput(c, shape_input));
  return KnownElement(c, 0).MergeWith(given);
}

absl::Status NewListShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  SLUICE_ASSIGN_OR_RETURN(PartialShape element, ShapeInput(c, 0));
  return SetListOutput(c, std::move(element));
}

absl::Status ScatterShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape element, ShapeInput(c, 2));
  SLUICE_RETURN_IF_ERROR(c.WithRankAtLeast(0, 1).status());
  return SetListOutput(c, std::move(element));
}

absl::Status ConcatShape(ShapeContext& c) {
  PartialShape given;
  if (c.num_inputs() > 1) {
    SLUICE_ASSIGN_OR_RETURN(given, ShapeInput(c, 1));
  } else {
    given = c.attr<PartialShape>("element_shape");
  }
  SLUICE_ASSIGN_OR_RETURN(const PartialShape element, KnownElement(c, 0).MergeWith(given));
  SLUICE_RETURN_IF_ERROR(c.SetOutput(1, PartialShape::Vector()));
  if (element.rank() <= 0) return c.SetOutput(0, PartialShape());
  return c.SetOutput(0, PartialShape({-1}).Concatenate(ListRow(element)));
}

// --- gradients

#ifndef SLUICE_DEFINITIONS_ONLY
DataType ElementType(const Backprop& b) { return b.attr<DataType>("element_dtype"); }

Output ShapeOfElements(Output list) { return TensorListElementShape(list, DT_INT32); }

Output IntsConstant(Graph& graph, std::initializer_list<int32_t> values) {
  return core::Const(graph, Tensor::Vector<int32_t>(values));
}

Output RowShape(Backprop& b, Output tensor) {
  return Slice(core::ShapeOf(tensor), IntsConstant(b.graph(), {1}), IntsConstant(b.graph(), {-1}));
}

// Returns a list of zeros as long as the list in input 0.
Output ZerosOfList(Backprop& b) {
  return TensorListReserve(ShapeOfElements(b.In(0)), TensorListLength(b.In(0)), ElementType(b));
}

void ConcatGradient(Backprop& b) {
  b.Into(0, TensorListSplit(b.Of(0), ShapeOfElements(b.In(0)), b.Out(1)));
}

void ScatterGradient(Backprop& b) {
  b.Into(0, TensorListGather(b.Of(0), b.In(1), RowShape(b, b.In(0)), ElementType(b)));
}
#endif

// --- ops

void UsesList(OpDefBuilder& op) {
  op.Input("input_handle", DT_VARIANT).Attr("element_dtype", TypeAttr());
}

void TypeAttrs(OpDefBuilder& op) {
  op.Attr("element_dtype", TypeAttr()).Attr("shape_type", TypeAttr(IndexTypes()));
}

OP(EmptyTensorList,
   "Makes an empty list of tensors of shape `element_shape`, where -1 stands for any size and a "
   "scalar -1 for any shape. It can hold `max_num_elements` (-1: any number).")
    .Input("element_shape", "shape_type")
    .Input("max_num_elements", DT_INT32)
    .Output("handle", DT_VARIANT)
    .With(TypeAttrs)
    .Shape(NewListShape);

OP(TensorListConcat,
   "Concatenates all elements along their first dimension. `lengths` are their first sizes.")
    .With(UsesList)
    .Output("tensor", "element_dtype")
    .Output("lengths", DT_INT64)
    .Attr("element_shape", ShapeAttr(PartialShape()))
    .Shape(ConcatShape) GRADIENT(ConcatGradient);

OP(TensorListConcatLists, "Concatenates the lists of `a` and `b` elementwise.")
    .Input("input_a", DT_VARIANT)
    .Input("input_b", DT_VARIANT)
    .Output("output", DT_VARIANT)
    .Attr("element_dtype", TypeAttr())
    .NotDifferentiable()
    .Shape(SameAsInput(0));

OP(TensorListConcatV2,
   "Concatenates as TensorListConcat does. `leading_dims` are the first sizes of elements that "
   "were never set.")
    .Input("input_handle", DT_VARIANT)
    .Input("element_shape", "shape_type")
    .Input("leading_dims", DT_INT64)
    .Output("tensor", "element_dtype")
    .Output("lengths", DT_INT64)
    .With(TypeAttrs)
    .Shape(ConcatShape) GRADIENT(ConcatGradient);

OP(TensorListElementShape,
   "Returns the static shape of the elements, with -1 for unknown sizes and a scalar -1 for an "
   "unknown rank.")
    .Input("input_handle", DT_VARIANT)
    .Output("element_shape", "shape_type")
    .Attr("shape_type", TypeAttr(IndexTypes()))
    .NotDifferentiable()
    .Shape([](ShapeContext& c) {
      const PartialShape known = KnownElement(c, 0);
      return c.SetOutput(0,
                         known.rank_known() ? PartialShape::Vector(known.rank()) : PartialShape());
    });

OP(TensorListFromTensor, "Makes a list of the rows of `tensor`.")
    .Input("tensor", "element_dtype")
    .Input("element_shape", "shape_type")
    .Output("output_handle", DT_VARIANT)
    .With(TypeAttrs)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(const PartialShape tensor, c.WithRankAtLeast(0, 1));
      SLUICE_ASSIGN_OR_RETURN(const PartialShape given, ShapeInput(c, 1));
      SLUICE_ASSIGN_OR_RETURN(PartialShape element, ListRow(tensor).MergeWith(given));
      return SetListOutput(c, std::move(element));
    }) GRADIENT([](Backprop& b) {
      const Output t = b.In(0);
      const int64_t rows = t.shape().rank() > 0 ? t.shape().dim(0) : -1;
      b.Into(0, TensorListStack(b.Of(0), RowShape(b, t), ElementType(b), {.num_elements = rows}));
    });

OP(TensorListGather, "Stacks the elements at `indices` along a new first dimension.")
    .With(UsesList)
    .With(Inputs({"indices", "element_shape"}, DT_INT32))
    .Output("values", "element_dtype")
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(const PartialShape element, MergedElement(c, 2));
      return c.SetOutput(0, c.input(1).Concatenate(element));
    }) GRADIENT([](Backprop& b) {
      b.Into(0, TensorListScatterIntoExistingList(ZerosOfList(b), b.Of(0), b.In(1)));
    });

OP(TensorListGetItem, "Returns element `index`, or zeros if it was never set.")
    .With(UsesList)
    .Input("index", DT_INT32)
    .Input("element_shape", "Tshape")
    .Output("item", "element_dtype")
    .Attr("Tshape", TypeAttr(IndexTypes(), DT_INT32))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
      SLUICE_ASSIGN_OR_RETURN(PartialShape element, MergedElement(c, 2));
      return c.SetOutput(0, std::move(element));
    }) GRADIENT([](Backprop& b) {
      b.Into(0, TensorListSetItem(ZerosOfList(b), b.In(1), b.Of(0)));
    });

OP(TensorListLength, "Returns the number of elements.")
    .Input("input_handle", DT_VARIANT)
    .Output("length", DT_INT32)
    .NotDifferentiable()
    .Shape(ScalarOutput());

OP(TensorListPopBack, "Returns the list without its last element, and that element.")
    .With(UsesList)
    .Input("element_shape", DT_INT32)
    .Output("output_handle", DT_VARIANT)
    .Output("tensor", "element_dtype")
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape element, MergedElement(c, 1));
      SLUICE_RETURN_IF_ERROR(c.SetOutput(1, element));
      return SetSameListOutput(c, element);
    }) GRADIENT([](Backprop& b) {
      Output list = b.Has(0) ? b.Of(0)
                             : EmptyTensorList(ShapeOfElements(b.Out(0)),
                                               core::Const(b.graph(), Tensor::Scalar<int32_t>(-1),
                                                           "max_num_elements"),
                                               ElementType(b));
      b.Into(0, TensorListPushBack(list, b.Of(1)));
    });

OP(TensorListPushBack, "Returns the list with `tensor` as an additional last element.")
    .With(UsesList)
    .Input("tensor", "element_dtype")
    .Output("output_handle", DT_VARIANT)
    .Shape([](ShapeContext& c) { return SetSameListOutput(c, c.input(1)); })
        GRADIENT([](Backprop& b) {
          const auto popped = TensorListPopBack(b.Of(0), core::ShapeOf(b.In(1)), ElementType(b));
          b.Into(0, popped.output_handle);
          b.Into(1, popped.tensor);
        });

OP(TensorListPushBackBatch,
   "Returns each of the lists with its row of `tensor` as an additional last element.")
    .Input("input_handles", DT_VARIANT)
    .Input("tensor", "element_dtype")
    .Output("output_handles", DT_VARIANT)
    .Attr("element_dtype", TypeAttr())
    .NotDifferentiable()
    .Shape(SameAsInput(0));

OP(TensorListReserve, "Makes a list of `num_elements` tensors that are zeros until they are set.")
    .Input("element_shape", "shape_type")
    .Input("num_elements", DT_INT32)
    .Output("handle", DT_VARIANT)
    .With(TypeAttrs)
    .Shape(NewListShape);

OP(TensorListResize, "Cuts the list to `size` elements, or adds elements that were never set.")
    .Input("input_handle", DT_VARIANT)
    .Input("size", DT_INT32)
    .Output("output_handle", DT_VARIANT)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
      if (const HandleData* data = c.InputHandle(0)) c.SetOutputHandle(0, *data);
      return c.SetOutput(0, PartialShape::Scalar());
    }) GRADIENT([](Backprop& b) {
      b.Into(0, TensorListResize(b.Of(0), TensorListLength(b.In(0))));
    });

OP(TensorListScatter, "Makes a list with the rows of `tensor` at `indices`.")
    .Input("tensor", "element_dtype")
    .Input("indices", DT_INT32)
    .Input("element_shape", "shape_type")
    .Output("output_handle", DT_VARIANT)
    .With(TypeAttrs)
    .Shape(ScatterShape) GRADIENT(ScatterGradient);

OP(TensorListScatterIntoExistingList, "Returns the list with the rows of `tensor` at `indices`.")
    .With(UsesList)
    .Input("tensor", "element_dtype")
    .Input("indices", DT_INT32)
    .Output("output_handle", DT_VARIANT)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.WithRankAtLeast(1, 1).status());
      return SetSameListOutput(c, ListRow(c.input(1)));
    }) GRADIENT([](Backprop& b) {
      const Output grad = b.Of(0);
      b.Into(1, TensorListGather(grad, b.In(2), RowShape(b, b.In(1)), ElementType(b)));
      b.Into(0, TensorListScatterIntoExistingList(grad, ZerosLike(b.In(1)), b.In(2)));
    });

OP(TensorListScatterV2,
   "Makes a list of `num_elements` (-1: as many as needed) with the rows of `tensor` at `indices`.")
    .Input("tensor", "element_dtype")
    .Input("indices", DT_INT32)
    .Input("element_shape", "shape_type")
    .Input("num_elements", DT_INT32)
    .Output("output_handle", DT_VARIANT)
    .With(TypeAttrs)
    .Shape(ScatterShape) GRADIENT(ScatterGradient);

OP(TensorListSetItem, "Returns the list with `item` as element `index`.")
    .With(UsesList)
    .Input("index", DT_INT32)
    .Input("item", "element_dtype")
    .Output("output_handle", DT_VARIANT)
    .Attr("resize_if_index_out_of_bounds", BoolAttr(false))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
      return SetSameListOutput(c, c.input(2));
    }) GRADIENT([](Backprop& b) {
      const Output grad = b.Of(0);
      Output list = TensorListSetItem(grad, b.In(1), ZerosLike(b.In(2)));
      if (b.attr<bool>("resize_if_index_out_of_bounds")) {
        list = TensorListResize(list, TensorListLength(b.In(0)));
      }
      b.Into(0, list);
      b.Into(2, TensorListGetItem(grad, b.In(1), core::ShapeOf(b.In(2)), ElementType(b)));
    });

OP(TensorListSplit, "Splits `tensor` into a list of parts with `lengths[i]` rows each.")
    .Input("tensor", "element_dtype")
    .Input("element_shape", "shape_type")
    .Input("lengths", DT_INT64)
    .Output("output_handle", DT_VARIANT)
    .With(TypeAttrs)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.WithRankAtLeast(0, 1).status());
      SLUICE_RETURN_IF_ERROR(c.WithRank(2, 1).status());
      SLUICE_ASSIGN_OR_RETURN(PartialShape element, ShapeInput(c, 1));
      return SetListOutput(c, std::move(element));
    }) GRADIENT([](Backprop& b) {
      const Output axis = core::Const(b.graph(), Tensor::Scalar<int32_t>(0), "axis");
      const Output element = ConcatV2({IntsConstant(b.graph(), {-1}), RowShape(b, b.In(0))}, axis);
      b.Into(0, TensorListConcatV2(b.Of(0), element, b.In(2), ElementType(b)).tensor);
    });

OP(TensorListStack, "Stacks all elements along a new first dimension.")
    .With(UsesList)
    .Input("element_shape", DT_INT32)
    .Output("tensor", "element_dtype")
    .Attr("num_elements", IntAttr(-1))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(const PartialShape element, MergedElement(c, 1));
      return c.SetOutput(0, PartialShape({c.attr<int64_t>("num_elements")}).Concatenate(element));
    }) GRADIENT([](Backprop& b) {
      const Output grad = b.Of(0);
      if (!grad) return;
      const PartialShape& shape = grad.shape();
      Tensor element = Tensor::Scalar<int32_t>(-1);
      if (shape.rank() > 0) {
        element = Tensor(DT_INT32, {shape.rank() - 1});
        for (int d = 1; d < shape.rank(); ++d) {
          element.data<int32_t>()[d - 1] = static_cast<int32_t>(shape.dim(d));
        }
      }
      b.Into(0, TensorListFromTensor(grad, core::Const(b.graph(), element, "element_shape")));
    });

}  // namespace
}  // namespace sluice
