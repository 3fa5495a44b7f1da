// Queues: handles by resource (…V2) and, as old graphs have them, by a vector of two strings.

#include "ops/op.h"

namespace sluice {
namespace {

OP(FIFOQueue, "FIFOQueueV2 behind a vector of two strings: container and name.")
    .RefOutput("handle", DT_STRING)
    .Attr("component_types", TypeListAttr().Min(1))
    .Attr("shapes", ShapeListAttr({}).Min(0))
    .Attr("capacity", IntAttr(-1))
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape([](ShapeContext& c) { return c.SetOutput(0, PartialShape::Vector(2)); });

OP(FIFOQueueV2,
   "A queue whose elements come out in the order in which they went in. All queues of one "
   "container and `shared_name` are the same; without a name it is this node's alone.")
    .Output("handle", DT_RESOURCE)
    .Attr("component_types", TypeListAttr().Min(1))
    .Attr("shapes", ShapeListAttr({}).Min(0))
    .Attr("capacity", IntAttr(-1))
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

OP(PaddingFIFOQueue, "PaddingFIFOQueueV2 behind a vector of two strings: container and name.")
    .RefOutput("handle", DT_STRING)
    .Attr("component_types", TypeListAttr().Min(1))
    .Attr("shapes", ShapeListAttr({}).Min(0))
    .Attr("capacity", IntAttr(-1))
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape([](ShapeContext& c) { return c.SetOutput(0, PartialShape::Vector(2)); });

OP(PaddingFIFOQueueV2,
   "A FIFOQueue whose elements may differ in the sizes that `shapes` leaves open (-1). A "
   "batch takes the largest size of each, and what an element does not fill is zero, empty "
   "or false. All queues of one container and `shared_name` are the same; without a name it "
   "is this node's alone.")
    .Output("handle", DT_RESOURCE)
    .Attr("component_types", TypeListAttr().Min(1))
    .Attr("shapes", ShapeListAttr({}).Min(0))
    .Attr("capacity", IntAttr(-1))
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

OP(PriorityQueue, "PriorityQueueV2 behind a vector of two strings: container and name.")
    .RefOutput("handle", DT_STRING)
    .Attr("component_types", TypeListAttr({}, {}).Min(0))
    .Attr("shapes", ShapeListAttr().Min(0))
    .Attr("capacity", IntAttr(-1))
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape([](ShapeContext& c) { return c.SetOutput(0, PartialShape::Vector(2)); });

OP(PriorityQueueV2,
   "A queue whose smallest priority comes out first. The priority is one component more, in "
   "front: an int64 scalar. All queues of one container and `shared_name` are the same; "
   "without a name it is this node's alone.")
    .Output("handle", DT_RESOURCE)
    .Attr("component_types", TypeListAttr({}, {}).Min(0))
    .Attr("shapes", ShapeListAttr().Min(0))
    .Attr("capacity", IntAttr(-1))
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

OP(RandomShuffleQueue, "RandomShuffleQueueV2 behind a vector of two strings: container and name.")
    .RefOutput("handle", DT_STRING)
    .Attr("component_types", TypeListAttr().Min(1))
    .Attr("shapes", ShapeListAttr({}).Min(0))
    .Attr("capacity", IntAttr(-1))
    .Attr("min_after_dequeue", IntAttr(0))
    .Attr("seed", IntAttr(0))
    .Attr("seed2", IntAttr(0))
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape([](ShapeContext& c) { return c.SetOutput(0, PartialShape::Vector(2)); });

OP(RandomShuffleQueueV2,
   "A queue that gives out one of its elements at random. While it is open, at least "
   "`min_after_dequeue` elements stay, so that they are mixed well. All queues of one "
   "container and `shared_name` are the same; without a name it is this node's alone.")
    .Output("handle", DT_RESOURCE)
    .Attr("component_types", TypeListAttr().Min(1))
    .Attr("shapes", ShapeListAttr({}).Min(0))
    .Attr("capacity", IntAttr(-1))
    .Attr("min_after_dequeue", IntAttr(0))
    .Attr("seed", IntAttr(0))
    .Attr("seed2", IntAttr(0))
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

}  // namespace
}  // namespace sluice
