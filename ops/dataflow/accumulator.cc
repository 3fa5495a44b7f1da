// Conditional accumulators of dense gradients: what synchronous replicas meet at.

#include "ops/op.h"

namespace sluice {
namespace {

// Input 1, a step, is a scalar.
absl::Status ScalarStep(ShapeContext& c) { return c.WithRank(1, 0).status(); }

OP(ConditionalAccumulator,
   "ResourceConditionalAccumulator behind a vector of two strings: container and name.")
    .RefOutput("handle", DT_STRING)
    .Attr("dtype", TypeAttr(NumberTypes()))
    .Attr("shape", ShapeAttr())
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Attr("reduction_type", OneOf({"MEAN", "SUM"}, "MEAN"))
    .Stateful()
    .Shape([](ShapeContext& c) { return c.SetOutput(0, PartialShape::Vector(2)); });

OP(ResourceConditionalAccumulator,
   "Collects gradients of one tensor: those computed at an old step are dropped, the others "
   "are added up, until someone takes their mean (or sum). `shape` may be partial. All of "
   "one container and `shared_name` are the same; without a name it is this node's alone.")
    .Output("handle", DT_RESOURCE)
    .Attr("dtype", TypeAttr(NumberTypes()))
    .Attr("shape", ShapeAttr())
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Attr("reduction_type", OneOf({"MEAN", "SUM"}, "MEAN"))
    .Stateful()
    .Shape([](ShapeContext& c) {
      // A scalar at run time; graphs that TensorFlow wrote say a vector of two, as its op does.
      return c.SetOutput(0, PartialShape::Vector(2));
    });

OP(AccumulatorApplyGradient,
   "ResourceAccumulatorApplyGradient for an accumulator behind a vector of two strings.")
    .RefInput("handle", DT_STRING)
    .Input("local_step", DT_INT64)
    .Input("gradient", "dtype")
    .Attr("dtype", TypeAttr(NumberTypes()))
    .Shape(ScalarStep);

OP(ResourceAccumulatorApplyGradient,
   "Adds a gradient, or drops it if `local_step` is below the accumulator's step.")
    .Input("handle", DT_RESOURCE)
    .Input("local_step", DT_INT64)
    .Input("gradient", "dtype")
    .Attr("dtype", TypeAttr(NumberTypes()))
    .Stateful()
    .Shape(ScalarStep);

OP(AccumulatorTakeGradient,
   "ResourceAccumulatorTakeGradient for an accumulator behind a vector of two strings.")
    .RefInput("handle", DT_STRING)
    .Input("num_required", DT_INT32)
    .Output("average", "dtype")
    .Attr("dtype", TypeAttr(NumberTypes()))
    .Shape(UnknownOutputs());

OP(ResourceAccumulatorTakeGradient,
   "The mean (or sum) of all gradients that were added since the last time; waits until "
   "there are `num_required`. The accumulator's step then grows by one.")
    .Input("handle", DT_RESOURCE)
    .Input("num_required", DT_INT32)
    .Output("average", "dtype")
    .Attr("dtype", TypeAttr(NumberTypes()))
    .Stateful()
    .Shape(UnknownOutputs());

OP(AccumulatorSetGlobalStep,
   "ResourceAccumulatorSetGlobalStep for an accumulator behind a vector of two strings.")
    .RefInput("handle", DT_STRING)
    .Input("new_global_step", DT_INT64)
    .Shape(ScalarStep);

OP(ResourceAccumulatorSetGlobalStep,
   "Sets the accumulator's step: gradients of earlier ones are dropped from now on.")
    .Input("handle", DT_RESOURCE)
    .Input("new_global_step", DT_INT64)
    .Stateful()
    .Shape(ScalarStep);

OP(AccumulatorNumAccumulated,
   "ResourceAccumulatorNumAccumulated for an accumulator behind a vector of two strings.")
    .RefInput("handle", DT_STRING)
    .Output("num_accumulated", DT_INT32)
    .Shape(ScalarOutput());

OP(ResourceAccumulatorNumAccumulated, "How many gradients were added since the last were taken.")
    .Input("handle", DT_RESOURCE)
    .Output("num_accumulated", DT_INT32)
    .Stateful()
    .Shape(ScalarOutput());

}  // namespace
}  // namespace sluice
