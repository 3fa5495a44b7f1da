// Lists of tensors as values: an op gives a new list and leaves the old one as it was. Functional
// loops keep what their gradients need in them.

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/lists/list_gradient.h"
#endif
#include "ops/lists/list_shape.h"
#include "ops/op.h"

namespace sluice {
namespace {

using namespace tensor_list;  // NOLINT: shapes and gradients of this family

OP(EmptyTensorList,
   "An empty list of tensors of shape `element_shape` (-1: any size; the scalar -1: any"
   " shape), with room for `max_num_elements` (-1: any number).")
    .Input("element_shape", "shape_type")
    .Input("max_num_elements", DT_INT32)
    .Output("handle", DT_VARIANT)
    .Attr("element_dtype", TypeAttr())
    .Attr("shape_type", TypeAttr(IndexTypes()))
    .Shape(NewListShape);

OP(TensorListConcat,
   "All elements, joined along their first dimension; `lengths` are their sizes there.")
    .Input("input_handle", DT_VARIANT)
    .Output("tensor", "element_dtype")
    .Output("lengths", DT_INT64)
    .Attr("element_dtype", TypeAttr())
    .Attr("element_shape", ShapeAttr(PartialShape()))
    .Shape(ConcatShape) GRADIENT(ConcatGradient);

OP(TensorListConcatLists, "Elementwise: the elements of list `a` and then those of list `b`.")
    .Input("input_a", DT_VARIANT)
    .Input("input_b", DT_VARIANT)
    .Output("output", DT_VARIANT)
    .Attr("element_dtype", TypeAttr())
    .NotDifferentiable()
    .Shape(SameAsInput(0));

OP(TensorListConcatV2,
   "TensorListConcat with the elements' shape as a tensor; `leading_dims` are the sizes of"
   " elements that were never set.")
    .Input("input_handle", DT_VARIANT)
    .Input("element_shape", "shape_type")
    .Input("leading_dims", DT_INT64)
    .Output("tensor", "element_dtype")
    .Output("lengths", DT_INT64)
    .Attr("element_dtype", TypeAttr())
    .Attr("shape_type", TypeAttr(IndexTypes()))
    .Shape(ConcatShape) GRADIENT(ConcatGradient);

OP(TensorListElementShape,
   "What is known of the shape of the elements: -1 for unknown sizes, the scalar -1 for an"
   " unknown rank.")
    .Input("input_handle", DT_VARIANT)
    .Output("element_shape", "shape_type")
    .Attr("shape_type", TypeAttr(IndexTypes()))
    .NotDifferentiable()
    .Shape(ElementShapeShape);

OP(TensorListFromTensor, "The rows of `tensor` as a list.")
    .Input("tensor", "element_dtype")
    .Input("element_shape", "shape_type")
    .Output("output_handle", DT_VARIANT)
    .Attr("element_dtype", TypeAttr())
    .Attr("shape_type", TypeAttr(IndexTypes()))
    .Shape(FromTensorShape) GRADIENT(FromTensorGradient);

OP(TensorListGather, "The elements at `indices`, stacked along a new first dimension.")
    .Input("input_handle", DT_VARIANT)
    .Input("indices", DT_INT32)
    .Input("element_shape", DT_INT32)
    .Output("values", "element_dtype")
    .Attr("element_dtype", TypeAttr())
    .Shape(GatherShape) GRADIENT(GatherGradient);

OP(TensorListGetItem, "Element `index`; zeros if it was never set.")
    .Input("input_handle", DT_VARIANT)
    .Input("index", DT_INT32)
    .Input("element_shape", "Tshape")
    .Output("item", "element_dtype")
    .Attr("element_dtype", TypeAttr())
    .Attr("Tshape", TypeAttr(IndexTypes(), DT_INT32))
    .Shape(GetItemShape) GRADIENT(GetItemGradient);

OP(TensorListLength, "The number of elements.")
    .Input("input_handle", DT_VARIANT)
    .Output("length", DT_INT32)
    .NotDifferentiable()
    .Shape(ScalarOutput());

OP(TensorListPopBack, "The list without its last element, and that.")
    .Input("input_handle", DT_VARIANT)
    .Input("element_shape", DT_INT32)
    .Output("output_handle", DT_VARIANT)
    .Output("tensor", "element_dtype")
    .Attr("element_dtype", TypeAttr())
    .Shape(PopBackShape) GRADIENT(PopBackGradient);

OP(TensorListPushBack, "The list with `tensor` behind its elements.")
    .Input("input_handle", DT_VARIANT)
    .Input("tensor", "element_dtype")
    .Output("output_handle", DT_VARIANT)
    .Attr("element_dtype", TypeAttr())
    .Shape(PushBackShape) GRADIENT(PushBackGradient);

OP(TensorListPushBackBatch, "Each list with its row of `tensor` behind its elements.")
    .Input("input_handles", DT_VARIANT)
    .Input("tensor", "element_dtype")
    .Output("output_handles", DT_VARIANT)
    .Attr("element_dtype", TypeAttr())
    .NotDifferentiable()
    .Shape(SameAsInput(0));

OP(TensorListReserve, "A list of `num_elements` tensors that are zeros until they are set.")
    .Input("element_shape", "shape_type")
    .Input("num_elements", DT_INT32)
    .Output("handle", DT_VARIANT)
    .Attr("element_dtype", TypeAttr())
    .Attr("shape_type", TypeAttr(IndexTypes()))
    .Shape(NewListShape);

OP(TensorListResize,
   "The list cut, or filled up with elements that were never set, to `size` elements.")
    .Input("input_handle", DT_VARIANT)
    .Input("size", DT_INT32)
    .Output("output_handle", DT_VARIANT)
    .Shape(ResizeShape) GRADIENT(ResizeGradient);

OP(TensorListScatter, "A list whose elements at `indices` are the rows of `tensor`.")
    .Input("tensor", "element_dtype")
    .Input("indices", DT_INT32)
    .Input("element_shape", "shape_type")
    .Output("output_handle", DT_VARIANT)
    .Attr("element_dtype", TypeAttr())
    .Attr("shape_type", TypeAttr(IndexTypes()))
    .Shape(ScatterShape) GRADIENT(ScatterGradient);

OP(TensorListScatterIntoExistingList,
   "The list with the rows of `tensor` as its elements at `indices`.")
    .Input("input_handle", DT_VARIANT)
    .Input("tensor", "element_dtype")
    .Input("indices", DT_INT32)
    .Output("output_handle", DT_VARIANT)
    .Attr("element_dtype", TypeAttr())
    .Shape(ScatterIntoShape) GRADIENT(ScatterIntoGradient);

OP(TensorListScatterV2,
   "A list of `num_elements` (-1: as many as needed) whose elements at `indices` are the"
   " rows of `tensor`.")
    .Input("tensor", "element_dtype")
    .Input("indices", DT_INT32)
    .Input("element_shape", "shape_type")
    .Input("num_elements", DT_INT32)
    .Output("output_handle", DT_VARIANT)
    .Attr("element_dtype", TypeAttr())
    .Attr("shape_type", TypeAttr(IndexTypes()))
    .Shape(ScatterShape) GRADIENT(ScatterGradient);

OP(TensorListSetItem, "The list with `item` as its element `index`.")
    .Input("input_handle", DT_VARIANT)
    .Input("index", DT_INT32)
    .Input("item", "element_dtype")
    .Output("output_handle", DT_VARIANT)
    .Attr("element_dtype", TypeAttr())
    .Attr("resize_if_index_out_of_bounds", BoolAttr(false))
    .Shape(SetItemShape) GRADIENT(SetItemGradient);

OP(TensorListSplit, "The parts of `tensor`, `lengths[i]` rows each, as a list.")
    .Input("tensor", "element_dtype")
    .Input("element_shape", "shape_type")
    .Input("lengths", DT_INT64)
    .Output("output_handle", DT_VARIANT)
    .Attr("element_dtype", TypeAttr())
    .Attr("shape_type", TypeAttr(IndexTypes()))
    .Shape(SplitShape) GRADIENT(SplitGradient);

OP(TensorListStack, "All elements, stacked along a new first dimension.")
    .Input("input_handle", DT_VARIANT)
    .Input("element_shape", DT_INT32)
    .Output("tensor", "element_dtype")
    .Attr("element_dtype", TypeAttr())
    .Attr("num_elements", IntAttr(-1))
    .Shape(StackShape) GRADIENT(StackGradient);

}  // namespace
}  // namespace sluice
