// How many gradients make an update while replicas come and go. TensorFlow has nothing like it:
// there the number is one for ever.

#include "ops/op.h"

namespace sluice {
namespace {

absl::Status ScalarSize(ShapeContext& c) { return c.WithRank(1, 0).status(); }

OP(AccumulatorSetUpdateSize,
   "ResourceAccumulatorSetUpdateSize for an accumulator behind a vector of two strings.")
    .RefInput("handle", DT_STRING)
    .Input("gradients", DT_INT32)
    .Stateful()
    .Hidden()
    .Shape(ScalarSize);

OP(ResourceAccumulatorSetUpdateSize,
   "An update of the accumulator has `gradients` gradients from now on, where its taker asks for "
   "more. A smaller number holds at once, also for takers that wait, a larger one after the next "
   "update.")
    .Input("handle", DT_RESOURCE)
    .Input("gradients", DT_INT32)
    .Stateful()
    .Hidden()
    .Shape(ScalarSize);

}  // namespace
}  // namespace sluice
