// Conditional accumulators of gradients of some rows. They share AccumulatorSetGlobalStep and
// AccumulatorNumAccumulated with the dense ones.

#include "ops/op.h"

namespace sluice {
namespace {

absl::Status TakeShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.SetOutput(0, PartialShape::Vector()));
  SLUICE_RETURN_IF_ERROR(c.SetOutput(1, PartialShape::UnknownRank()));
  return c.SetOutput(2, PartialShape::Vector());
}

OP(SparseConditionalAccumulator,
   "ConditionalAccumulator of gradients of some rows, as a vector of two strings: container "
   "and name.")
    .RefOutput("handle", DT_STRING)
    .Attr("dtype", TypeAttr(NumberTypes()))
    .Attr("shape", ShapeAttr())
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Attr("reduction_type", OneOf({"MEAN", "SUM"}, "MEAN"))
    .Stateful()
    .Shape([](ShapeContext& c) { return c.SetOutput(0, PartialShape::Vector(2)); });

OP(SparseAccumulatorApplyGradient,
   "Adds a gradient whose row gradient_indices[i] is gradient_values[i, …], or drops it if "
   "`local_step` is below the accumulator's step. Indices should rise. `gradient_shape` is "
   "that of the whole tensor, looked at only if `has_known_shape`.")
    .RefInput("handle", DT_STRING)
    .Input("local_step", DT_INT64)
    .Input("gradient_indices", DT_INT64)
    .Input("gradient_values", "dtype")
    .Input("gradient_shape", DT_INT64)
    .Attr("dtype", TypeAttr(NumberTypes()))
    .Attr("has_known_shape", BoolAttr())
    .Shape(NoOutputs());

OP(SparseAccumulatorTakeGradient,
   "All rows that were added since the last time; waits until there are `num_required` "
   "gradients. A mean divides each row by the number of gradients that had it. The "
   "accumulator's step then grows by one.")
    .RefInput("handle", DT_STRING)
    .Input("num_required", DT_INT32)
    .Output("indices", DT_INT64)
    .Output("values", "dtype")
    .Output("shape", DT_INT64)
    .Attr("dtype", TypeAttr(NumberTypes()))
    .Shape(TakeShape);

}  // namespace
}  // namespace sluice
