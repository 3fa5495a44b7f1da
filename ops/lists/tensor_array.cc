// Arrays of tensors that live as long as a step: what loops read from and write to.

#include "ops/lists/array_shape.h"
#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/lists/array_gradient.h"
#endif
#include "ops/op.h"

namespace sluice {
namespace {

OP(TensorArrayCloseV3, "Drops the elements; the array is of no more use.")
    .Input("handle", DT_RESOURCE)
    .Stateful()
    .NotDifferentiable()
    .Shape(TensorArrayCloseShape);

OP(TensorArrayConcatV3,
   "All elements, joined along their first dimension; `lengths` are their sizes there.")
    .Input("handle", DT_RESOURCE)
    .Input("flow_in", DT_FLOAT)
    .Output("value", "dtype")
    .Output("lengths", DT_INT64)
    .Attr("dtype", TypeAttr())
    .Attr("element_shape_except0", ShapeAttr(PartialShape()))
    .Stateful()
    .Shape(TensorArrayConcatShape) GRADIENT(TensorArrayConcatGradient);

OP(TensorArrayGatherV3, "The elements at `indices`, stacked along a new first dimension.")
    .Input("handle", DT_RESOURCE)
    .Input("indices", DT_INT32)
    .Input("flow_in", DT_FLOAT)
    .Output("value", "dtype")
    .Attr("dtype", TypeAttr())
    .Attr("element_shape", ShapeAttr(PartialShape()))
    .Stateful()
    .Shape(TensorArrayGatherShape) GRADIENT(TensorArrayGatherGradient);

OP(TensorArrayGradV3,
   "The array of gradients of the elements of another one, as many as that has by now, which grows"
   " no more. Repeated writes of an element add up. The same array for the same `source`, which"
   " names the call of Gradients.")
    .Input("handle", DT_RESOURCE)
    .Input("flow_in", DT_FLOAT)
    .Output("grad_handle", DT_RESOURCE)
    .Output("flow_out", DT_FLOAT)
    .Attr("source", StringAttr())
    .Stateful()
    .NotDifferentiable()
    .Shape(TensorArrayGradShape);

OP(TensorArrayGradWithShape,
   "TensorArrayGradV3 whose elements have `shape_to_prepend` in front of the forward elements' "
   "shape.")
    .Input("handle", DT_RESOURCE)
    .Input("flow_in", DT_FLOAT)
    .Input("shape_to_prepend", DT_INT32)
    .Output("grad_handle", DT_RESOURCE)
    .Output("flow_out", DT_FLOAT)
    .Attr("source", StringAttr())
    .Stateful()
    .NotDifferentiable()
    .Shape(TensorArrayGradShape);

OP(TensorArrayReadV3,
   "Element `index`. One that was never written is zeros, if the shape of the elements is known.")
    .Input("handle", DT_RESOURCE)
    .Input("index", DT_INT32)
    .Input("flow_in", DT_FLOAT)
    .Output("value", "dtype")
    .Attr("dtype", TypeAttr())
    .Stateful()
    .Shape(TensorArrayReadShape) GRADIENT(TensorArrayReadGradient);

OP(TensorArrayScatterV3, "Stores the rows of `value` as the elements at `indices`.")
    .Input("handle", DT_RESOURCE)
    .Input("indices", DT_INT32)
    .Input("value", "T")
    .Input("flow_in", DT_FLOAT)
    .Output("flow_out", DT_FLOAT)
    .Attr("T", TypeAttr())
    .Stateful()
    .Shape(TensorArrayScatterShape) GRADIENT(TensorArrayScatterGradient);

OP(TensorArraySizeV3, "The number of elements.")
    .Input("handle", DT_RESOURCE)
    .Input("flow_in", DT_FLOAT)
    .Output("size", DT_INT32)
    .Stateful()
    .NotDifferentiable()
    .Shape(TensorArraySizeShape);

OP(TensorArraySplitV3, "Stores the parts of `value`, `lengths[i]` rows each, as elements 0, 1, ...")
    .Input("handle", DT_RESOURCE)
    .Input("value", "T")
    .Input("lengths", DT_INT64)
    .Input("flow_in", DT_FLOAT)
    .Output("flow_out", DT_FLOAT)
    .Attr("T", TypeAttr())
    .Stateful()
    .Shape(TensorArraySplitShape) GRADIENT(TensorArraySplitGradient);

OP(TensorArrayV3,
   "A new array of `size` tensors, written and read one at a time; it ends with the step. With"
   " `dynamic_size` a write past the end grows it. With `clear_after_read` an element may be read"
   " once, and its memory is free then. `element_shape` is what all elements must agree with; with"
   " `identical_element_shapes` the first write says it. `flow` is a number without meaning that"
   " orders the ops on the array.")
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
    .Shape(TensorArrayShape);

OP(TensorArrayWriteV3, "Stores `value` as element `index`: once, if the array is no gradient's.")
    .Input("handle", DT_RESOURCE)
    .Input("index", DT_INT32)
    .Input("value", "T")
    .Input("flow_in", DT_FLOAT)
    .Output("flow_out", DT_FLOAT)
    .Attr("T", TypeAttr())
    .Stateful()
    .Shape(TensorArrayWriteShape) GRADIENT(TensorArrayWriteGradient);

}  // namespace
}  // namespace sluice
