// Ops that make queues. The output of a …V2 op is a resource handle that names the queue. In old
// graphs, it is a reference to a vector of two strings. All ops with the same container and
// `shared_name` share a queue. If `shared_name` is empty, the queue belongs to the node.
#include "ops/op.h"
#include "ops/state/mixins.h"

namespace sluice {
namespace {

void QueueAttrs(OpDefBuilder& op) {
  op.Attr("component_types", TypeListAttr().Min(1))
      .Attr("shapes", ShapeListAttr({}).Min(0))
      .Attr("capacity", IntAttr(-1));
}

void PriorityQueueAttrs(OpDefBuilder& op) {
  op.Attr("component_types", TypeListAttr({}, {}).Min(0))
      .Attr("shapes", ShapeListAttr().Min(0))
      .Attr("capacity", IntAttr(-1));
}

void ShuffleQueueAttrs(OpDefBuilder& op) {
  op.With(QueueAttrs).With(Attrs({"min_after_dequeue", "seed", "seed2"}, IntAttr(0)));
}

OP(FIFOQueue, "FIFOQueueV2 with a reference handle.")
    .With(MakesRefHandle("handle"))
    .With(QueueAttrs)
    .With(ContainerAttrs);

OP(FIFOQueueV2, "Makes a first-in, first-out queue.")
    .With(MakesResourceHandle("handle"))
    .With(QueueAttrs)
    .With(ContainerAttrs);

OP(PaddingFIFOQueue, "PaddingFIFOQueueV2 with a reference handle.")
    .With(MakesRefHandle("handle"))
    .With(QueueAttrs)
    .With(ContainerAttrs);

OP(PaddingFIFOQueueV2,
   "Makes a first-in, first-out queue whose elements may differ in the sizes that are -1 in "
   "`shapes`. Dequeuing a batch pads its elements to the largest size with zeros, empty strings or "
   "false.")
    .With(MakesResourceHandle("handle"))
    .With(QueueAttrs)
    .With(ContainerAttrs);

OP(PriorityQueue, "PriorityQueueV2 with a reference handle.")
    .With(MakesRefHandle("handle"))
    .With(PriorityQueueAttrs)
    .With(ContainerAttrs);

OP(PriorityQueueV2,
   "Makes a queue that returns the element with the smallest priority first. The priority is an "
   "additional first component, an int64 scalar.")
    .With(MakesResourceHandle("handle"))
    .With(PriorityQueueAttrs)
    .With(ContainerAttrs);

OP(RandomShuffleQueue, "RandomShuffleQueueV2 with a reference handle.")
    .With(MakesRefHandle("handle"))
    .With(ShuffleQueueAttrs)
    .With(ContainerAttrs);

OP(RandomShuffleQueueV2,
   "Makes a queue that returns its elements in random order. While it is open, at least "
   "`min_after_dequeue` elements stay in it, so that they are mixed well.")
    .With(MakesResourceHandle("handle"))
    .With(ShuffleQueueAttrs)
    .With(ContainerAttrs);

}  // namespace
}  // namespace sluice
