// Ops that assign to slices of variables.
#include "graph/op/mixins.h"
#include "ops/op.h"

namespace sluice {
namespace {

// Declares the inputs and attributes that describe the slice, as for StridedSlice, and the value.
void AssignsSlice(OpDefBuilder& op) {
  op.With(Inputs({"begin", "end", "strides"}, "Index"))
      .Input("value", "T")
      .Attr("T", TypeAttr())
      .Attr("Index", TypeAttr(IndexTypes()))
      .With(Attrs({"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"},
                  IntAttr(0)));
}

OP(ResourceStridedSliceAssign,
   "Computes variable[slice] = value. `value` is broadcast to the slice.")
    .Input("ref", DT_RESOURCE)
    .With(AssignsSlice)
    .Stateful()
    .Shape(NoOutputs());

OP(StridedSliceAssign,
   "Computes ref[slice] = value and returns `ref`. `value` is broadcast to the slice.")
    .RefInput("ref", "T")
    .With(AssignsSlice)
    .RefOutput("output_ref", "T")
    .Shape(SameAsInput(0));

}  // namespace
}  // namespace sluice
