// What queues of synchronous training are told by a chief that starts. Accumulators have
// AccumulatorSetGlobalStep for it; TensorFlow has nothing of the kind for queues.

#include "ops/op.h"

namespace sluice {
namespace {

OP(QueueSetGlobalStep,
   "A chief starts at this global step. A queue of gradients drops those that are of another step; "
   "who waits to take them ends, and makes no update. A queue of tokens drops those of later "
   "steps: they are of updates that were undone.")
    .Input("handle", DT_RESOURCE)
    .Input("new_global_step", DT_INT64)
    .Stateful()
    .Hidden()
    .Shape([](ShapeContext& c) { return c.WithRank(1, 0).status(); });

}  // namespace
}  // namespace sluice
