// The op that sets the global step of the gradient queues of synchronous training. A chief (the
// replica that makes the updates) runs it when it starts. TensorFlow has no such op for queues.
#include "ops/op.h"

namespace sluice {
namespace {

OP(QueueSetGlobalStep,
   "Sets the global step at which a chief starts. A queue of gradients drops those of other steps, "
   "and waiting dequeues end without an update. A queue of tokens drops tokens of later steps, "
   "whose updates were undone.")
    .Input("handle", DT_RESOURCE)
    .Input("new_global_step", DT_INT64)
    .Stateful()
    .Hidden()
    .Shape([](ShapeContext& c) { return c.WithRank(1, 0).status(); });

}  // namespace
}  // namespace sluice
