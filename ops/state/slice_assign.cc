// Slices of variables, assigned in place.

#include "ops/op.h"

namespace sluice {
namespace {

OP(ResourceStridedSliceAssign,
   "variable[slice] = value, where the slice is as StridedSlice takes it and `value` broadcasts to "
   "it.")
    .Input("ref", DT_RESOURCE)
    .Input("begin", "Index")
    .Input("end", "Index")
    .Input("strides", "Index")
    .Input("value", "T")
    .Attr("T", TypeAttr())
    .Attr("Index", TypeAttr(IndexTypes()))
    .Attr("begin_mask", IntAttr(0))
    .Attr("end_mask", IntAttr(0))
    .Attr("ellipsis_mask", IntAttr(0))
    .Attr("new_axis_mask", IntAttr(0))
    .Attr("shrink_axis_mask", IntAttr(0))
    .Stateful()
    .Shape(NoOutputs());

OP(StridedSliceAssign,
   "ref[slice] = value, where the slice is as StridedSlice takes it and `value` broadcasts to it."
   " Returns `ref`.")
    .RefInput("ref", "T")
    .Input("begin", "Index")
    .Input("end", "Index")
    .Input("strides", "Index")
    .Input("value", "T")
    .RefOutput("output_ref", "T")
    .Attr("T", TypeAttr())
    .Attr("Index", TypeAttr(IndexTypes()))
    .Attr("begin_mask", IntAttr(0))
    .Attr("end_mask", IntAttr(0))
    .Attr("ellipsis_mask", IntAttr(0))
    .Attr("new_axis_mask", IntAttr(0))
    .Attr("shrink_axis_mask", IntAttr(0))
    .Shape(SameAsInput(0));

}  // namespace
}  // namespace sluice
