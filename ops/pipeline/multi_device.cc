// Ops for iterators that give elements to several devices in turn.
#include "ops/data/mixins.h"
#include "ops/op.h"
#include "ops/state/mixins.h"

namespace sluice {
namespace {

void DevicesAttr(OpDefBuilder& op) { op.Attr("devices", StringListAttr().Min(1)); }

OP(AnonymousMultiDeviceIterator, "Makes a new MultiDeviceIterator at each call, and its deleter.")
    .With(MakesResourceHandle("handle"))
    .Output("deleter", DT_VARIANT)
    .With(DevicesAttr)
    .With(ElementAttrs);

OP(AnonymousMultiDeviceIteratorV3, "Makes a new MultiDeviceIterator at each call.")
    .With(MakesResourceHandle("handle"))
    .With(DevicesAttr)
    .With(ElementAttrs);

OP(DeleteMultiDeviceIterator, "Removes the name of an iterator.")
    .Input("multi_device_iterator", DT_RESOURCE)
    .Input("iterators", "N*resource")
    .Input("deleter", DT_VARIANT)
    .Attr("N", IntAttr().Min(0))
    .Stateful()
    .Shape(NoOutputs());

OP(MultiDeviceIterator,
   "Makes an iterator whose elements go to `devices` in turn: element i to shard i modulo their "
   "number.")
    .With(MakesResourceHandle("handle"))
    .With(DevicesAttr)
    .With(Attrs({"shared_name", "container"}, StringAttr()))
    .With(ElementAttrs);

OP(MultiDeviceIteratorFromStringHandle,
   "Finds an iterator by a string from MultiDeviceIteratorToStringHandle.")
    .Input("string_handle", DT_STRING)
    .Output("multi_device_iterator", DT_RESOURCE)
    .Attr("output_types", TypeListAttr({}, {}).Min(0))
    .Attr("output_shapes", ShapeListAttr({}).Min(0))
    .Stateful()
    .Shape(ScalarOutput());

OP(MultiDeviceIteratorGetNextFromShard,
   "Waits for the next element of a shard. Returns OUT_OF_RANGE at the end.")
    .Input("multi_device_iterator", DT_RESOURCE)
    .Input("shard_num", DT_INT32)
    .Input("incarnation_id", DT_INT64)
    .Output("components", "output_types")
    .With(ElementAttrs)
    .Stateful()
    .Shape([](ShapeContext& c) {
      for (int i = 0; i < 3; ++i) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
      return ElementShapes(c);
    });

OP(MultiDeviceIteratorInit,
   "Moves the iterator to the beginning of the dataset. It holds up to `max_buffer_size` elements "
   "for each shard. Returns the number of the reading.")
    .Input("dataset", DT_VARIANT)
    .Input("multi_device_iterator", DT_RESOURCE)
    .Input("max_buffer_size", DT_INT64)
    .Output("incarnation_id", DT_INT64)
    .Stateful()
    .Shape(ScalarOutput());

OP(MultiDeviceIteratorToStringHandle, "Returns a string that identifies the iterator.")
    .Input("multi_device_iterator", DT_RESOURCE)
    .Output("string_handle", DT_STRING)
    .Stateful()
    .Shape(ScalarOutput());

}  // namespace
}  // namespace sluice
