// Ops of iterators. An iterator is a position in a dataset, and steps take elements from it.
#include "ops/data/mixins.h"
#include "ops/op.h"
#include "ops/state/mixins.h"

namespace sluice {
namespace {

void FindsIterator(OpDefBuilder& op) {
  op.Input("string_handle", DT_STRING)
      .Output("resource_handle", DT_RESOURCE)
      .Attr("output_types", TypeListAttr({}, {}).Min(0))
      .Attr("output_shapes", ShapeListAttr({}).Min(0))
      .Stateful()
      .Shape(ScalarOutput());
}

void ReturnsElement(OpDefBuilder& op) {
  op.Output("components", "output_types").With(ElementAttrs).Stateful().Shape(ElementShapes);
}

OP(AnonymousIterator, "Makes a new iterator at each call. MakeIterator sets its dataset.")
    .With(MakesResourceHandle("handle"))
    .With(ElementAttrs);

OP(AnonymousIteratorV2, "Makes a new iterator, and the deleter that DeleteIterator takes.")
    .With(MakesResourceHandle("handle"))
    .Output("deleter", DT_VARIANT)
    .With(ElementAttrs);

OP(AnonymousIteratorV3, "Makes a new iterator at each call. MakeIterator sets its dataset.")
    .With(MakesResourceHandle("handle"))
    .With(ElementAttrs);

OP(DeserializeIterator,
   "Moves the iterator to a position from SerializeIterator. Reads the elements before it again.")
    .Input("resource_handle", DT_RESOURCE)
    .Input("serialized", DT_VARIANT)
    .Stateful()
    .Shape(NoOutputs());

OP(DatasetToSingleElement, "Returns the components of the only element.")
    .Input("dataset", DT_VARIANT)
    .With(ReturnsElement)
    .With(Metadata);

OP(DeleteIterator, "Removes the name of an iterator.")
    .Input("handle", DT_RESOURCE)
    .Input("deleter", DT_VARIANT)
    .Stateful()
    .Shape(NoOutputs());

OP(Iterator, "Makes an iterator as IteratorV2 does. With an empty `shared_name` it is private.")
    .With(MakesResourceHandle("handle"))
    .With(Attrs({"shared_name", "container"}, StringAttr()))
    .With(ElementAttrs);

OP(IteratorFromStringHandle, "Finds an iterator by a string from IteratorToStringHandle.")
    .With(FindsIterator);

OP(IteratorFromStringHandleV2, "Finds an iterator by a string from IteratorToStringHandle.")
    .With(FindsIterator);

OP(IteratorGetDevice, "Returns the device of the iterator.")
    .Input("resource", DT_RESOURCE)
    .Output("device", DT_STRING)
    .Stateful()
    .Shape(ScalarOutput());

OP(IteratorGetNext, "Waits for the next element. Returns OUT_OF_RANGE at the end.")
    .Input("iterator", DT_RESOURCE)
    .With(ReturnsElement);

OP(IteratorGetNextAsOptional, "Waits for the next element. Returns an empty optional at the end.")
    .Input("iterator", DT_RESOURCE)
    .Output("optional", DT_VARIANT)
    .With(ElementAttrs)
    .Stateful()
    .Shape(ScalarOutput());

OP(IteratorGetNextSync, "Waits for the next element. Returns OUT_OF_RANGE at the end.")
    .Input("iterator", DT_RESOURCE)
    .With(ReturnsElement);

OP(IteratorToStringHandle, "Returns a string that identifies the iterator.")
    .Input("resource_handle", DT_RESOURCE)
    .Output("string_handle", DT_STRING)
    .Stateful()
    .Shape(ScalarOutput());

OP(IteratorV2, "Makes an iterator that is shared by name. MakeIterator sets its dataset.")
    .With(MakesResourceHandle("handle"))
    .With(Attrs({"shared_name", "container"}, StringAttr()))
    .With(ElementAttrs);

OP(MakeIterator, "Moves the iterator to the beginning of the dataset.")
    .Input("dataset", DT_VARIANT)
    .Input("iterator", DT_RESOURCE)
    .Stateful()
    .Shape(NoOutputs());

OP(OneShotIterator,
   "Makes an iterator over the dataset that `dataset_factory` returns. Calls the function once.")
    .With(MakesResourceHandle("handle"))
    .Attr("dataset_factory", FunctionAttrDef())
    .With(ElementAttrs)
    .With(ContainerAttrs);

OP(SerializeIterator,
   "Returns the position of the iterator: the number of elements and the random seeds.")
    .Input("resource_handle", DT_RESOURCE)
    .Output("serialized", DT_VARIANT)
    .Attr("external_state_policy", IntAttr(0))
    .Stateful()
    .Shape(ScalarOutput());

OLDER_NAME(ExperimentalIteratorGetDevice, IteratorGetDevice);

}  // namespace
}  // namespace sluice
