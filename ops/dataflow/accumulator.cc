// Ops of conditional accumulators: in synchronous training, replicas add their gradients, and the
// chief (the replica that makes the updates) takes the mean. All ops with the same container and
// `shared_name` share an accumulator. If `shared_name` is empty, the accumulator belongs to the
// node.
#include "ops/op.h"
#include "ops/state/mixins.h"

namespace sluice {
namespace {

// Shape function of ops whose input 1 is a scalar and that have no outputs.
absl::Status ScalarStep(ShapeContext& c) { return c.WithRank(1, 0).status(); }

absl::Status SparseTakeShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.SetOutput(0, PartialShape::Vector()));
  SLUICE_RETURN_IF_ERROR(c.SetOutput(1, PartialShape::UnknownRank()));
  return c.SetOutput(2, PartialShape::Vector());
}

void AccumulatorAttrs(OpDefBuilder& op) {
  op.Attr("dtype", TypeAttr(NumberTypes()))
      .Attr("shape", ShapeAttr())
      .With(ContainerAttrs)
      .Attr("reduction_type", OneOf({"MEAN", "SUM"}, "MEAN"));
}

void UsesRefAccumulator(OpDefBuilder& op) { op.RefInput("handle", DT_STRING); }

void UsesAccumulator(OpDefBuilder& op) { op.Input("handle", DT_RESOURCE).Stateful(); }

void AppliesGradient(OpDefBuilder& op) {
  op.Input("local_step", DT_INT64)
      .Input("gradient", "dtype")
      .Attr("dtype", TypeAttr(NumberTypes()))
      .Shape(ScalarStep);
}

void TakesGradient(OpDefBuilder& op) {
  op.Input("num_required", DT_INT32)
      .Output("average", "dtype")
      .Attr("dtype", TypeAttr(NumberTypes()))
      .Shape(UnknownOutputs());
}

OP(ConditionalAccumulator, "ResourceConditionalAccumulator with a reference handle.")
    .With(MakesRefHandle("handle"))
    .With(AccumulatorAttrs);

OP(ResourceConditionalAccumulator,
   "Makes an accumulator of gradients of one tensor, whose `shape` may be partial. It drops "
   "gradients that were computed at an old step and adds the others.")
    .With(MakesResourceHandle("handle"))
    .With(AccumulatorAttrs)
    .SharedByReplicas()
    // At run time, the output is a scalar. TensorFlow's shape function and old graphs declare a
    // vector.
    .Shape([](ShapeContext& c) { return c.SetOutput(0, PartialShape::Vector(2)); });

OP(SparseConditionalAccumulator,
   "Makes an accumulator of sparse gradients, which have some rows of the tensor. Takes a "
   "reference handle.")
    .With(MakesRefHandle("handle"))
    .With(AccumulatorAttrs);

OP(AccumulatorApplyGradient, "ResourceAccumulatorApplyGradient with a reference handle.")
    .With(UsesRefAccumulator)
    .With(AppliesGradient);

OP(ResourceAccumulatorApplyGradient,
   "Adds a gradient. Drops it if `local_step` is below the step of the accumulator.")
    .With(UsesAccumulator)
    .With(AppliesGradient);

OP(SparseAccumulatorApplyGradient,
   "Adds a sparse gradient with the row gradient_values[i, …] at gradient_indices[i]. Drops it if "
   "`local_step` is below the step of the accumulator. Indices should ascend. `gradient_shape` is "
   "the shape of the whole tensor. It is read only if `has_known_shape`.")
    .With(UsesRefAccumulator)
    .With(Inputs({"local_step", "gradient_indices"}, DT_INT64))
    .Input("gradient_values", "dtype")
    .Input("gradient_shape", DT_INT64)
    .Attr("dtype", TypeAttr(NumberTypes()))
    .Attr("has_known_shape", BoolAttr())
    .Shape(NoOutputs());

OP(AccumulatorTakeGradient, "ResourceAccumulatorTakeGradient with a reference handle.")
    .With(UsesRefAccumulator)
    .With(TakesGradient);

OP(ResourceAccumulatorTakeGradient,
   "Takes the mean (or sum) of the gradients that were added since the last take. Waits until "
   "there are `num_required`. Then the step of the accumulator grows by one.")
    .With(UsesAccumulator)
    .With(TakesGradient);

OP(SparseAccumulatorTakeGradient,
   "Takes all rows that were added since the last take. Waits until there are `num_required` "
   "gradients. The mean of a row is over the gradients that have it. Then the step of the "
   "accumulator grows by one.")
    .With(UsesRefAccumulator)
    .Input("num_required", DT_INT32)
    .Output("indices", DT_INT64)
    .Output("values", "dtype")
    .Output("shape", DT_INT64)
    .Attr("dtype", TypeAttr(NumberTypes()))
    .Shape(SparseTakeShape);

OP(AccumulatorSetGlobalStep, "ResourceAccumulatorSetGlobalStep with a reference handle.")
    .With(UsesRefAccumulator)
    .Input("new_global_step", DT_INT64)
    .Shape(ScalarStep);

OP(ResourceAccumulatorSetGlobalStep,
   "Sets the step of the accumulator, which drops gradients of earlier steps from now on.")
    .With(UsesAccumulator)
    .Input("new_global_step", DT_INT64)
    .Shape(ScalarStep);

OP(AccumulatorNumAccumulated, "ResourceAccumulatorNumAccumulated with a reference handle.")
    .With(UsesRefAccumulator)
    .Output("num_accumulated", DT_INT32)
    .Shape(ScalarOutput());

OP(ResourceAccumulatorNumAccumulated,
   "Returns the number of gradients that were added since the last take.")
    .With(UsesAccumulator)
    .Output("num_accumulated", DT_INT32)
    .Shape(ScalarOutput());

// --- Ops that TensorFlow lacks, because there the number of gradients in an update is fixed.

OP(AccumulatorSetUpdateSize, "ResourceAccumulatorSetUpdateSize with a reference handle.")
    .With(UsesRefAccumulator)
    .Input("gradients", DT_INT32)
    .Stateful()
    .Hidden()
    .Shape(ScalarStep);

OP(ResourceAccumulatorSetUpdateSize,
   "Limits the number of gradients that takes require to `gradients`. A smaller number applies "
   "immediately, to waiting takes too. A larger one applies after the next update.")
    .With(UsesAccumulator)
    .Input("gradients", DT_INT32)
    .Hidden()
    .Shape(ScalarStep);

}  // namespace
}  // namespace sluice
