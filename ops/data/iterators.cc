// Iterators: places in datasets, out of which steps take elements.

#include "ops/op.h"

namespace sluice {
namespace {

absl::Status ElementShape(ShapeContext& c) {
  const auto& shapes = c.attr<std::vector<PartialShape>>("output_shapes");
  if (static_cast<int>(shapes.size()) != c.num_outputs()) {
    return c.SetOutputs(PartialShape::UnknownRank());
  }
  for (int i = 0; i < c.num_outputs(); ++i) {
    SLUICE_RETURN_IF_ERROR(c.SetOutput(i, shapes[static_cast<size_t>(i)]));
  }
  return absl::OkStatus();
}

OP(DatasetToSingleElement, "The components of the only element.")
    .Input("dataset", DT_VARIANT)
    .Output("components", "output_types")
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Stateful()
    .Shape(ElementShape);

OP(Iterator, "IteratorV2; where `shared_name` is empty, the node's alone.")
    .Output("handle", DT_RESOURCE)
    .Attr("shared_name", StringAttr())
    .Attr("container", StringAttr())
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Stateful()
    .Shape(ScalarOutput());

OP(IteratorFromStringHandle, "The iterator that a string of IteratorToStringHandle names.")
    .Input("string_handle", DT_STRING)
    .Output("resource_handle", DT_RESOURCE)
    .Attr("output_types", TypeListAttr({}, {}).Min(0))
    .Attr("output_shapes", ShapeListAttr({}).Min(0))
    .Stateful()
    .Shape(ScalarOutput());

OP(IteratorFromStringHandleV2, "The iterator that a string of IteratorToStringHandle names.")
    .Input("string_handle", DT_STRING)
    .Output("resource_handle", DT_RESOURCE)
    .Attr("output_types", TypeListAttr({}, {}).Min(0))
    .Attr("output_shapes", ShapeListAttr({}).Min(0))
    .Stateful()
    .Shape(ScalarOutput());

OP(IteratorGetNext, "The next element; waits for it. OUT_OF_RANGE at the end.")
    .Input("iterator", DT_RESOURCE)
    .Output("components", "output_types")
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Stateful()
    .Shape(ElementShape);

OP(IteratorGetNextSync, "The next element; waits for it. OUT_OF_RANGE at the end.")
    .Input("iterator", DT_RESOURCE)
    .Output("components", "output_types")
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Stateful()
    .Shape(ElementShape);

OP(IteratorToStringHandle, "A string that names the iterator.")
    .Input("resource_handle", DT_RESOURCE)
    .Output("string_handle", DT_STRING)
    .Stateful()
    .Shape(ScalarOutput());

OP(IteratorV2, "A place in a dataset, which MakeIterator chooses.")
    .Output("handle", DT_RESOURCE)
    .Attr("shared_name", StringAttr())
    .Attr("container", StringAttr())
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Stateful()
    .Shape(ScalarOutput());

OP(MakeIterator, "Puts the iterator in front of the first element of the dataset.")
    .Input("dataset", DT_VARIANT)
    .Input("iterator", DT_RESOURCE)
    .Stateful()
    .Shape(NoOutputs());

OP(OneShotIterator, "An iterator over the dataset that `dataset_factory` makes, once.")
    .Output("handle", DT_RESOURCE)
    .Attr("dataset_factory", FunctionAttrDef())
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

}  // namespace
}  // namespace sluice
