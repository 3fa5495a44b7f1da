// Ops of optionals. An optional is a variant that holds a tuple of tensors or nothing.
#include "ops/data/mixins.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/data/optional_builders.h"
#endif

namespace sluice {
namespace {

OP(OptionalFromValue, "Makes an optional that holds the components.")
    .Input("components", "Toutput_types")
    .Output("optional", DT_VARIANT)
    .Attr("Toutput_types", TypeListAttr().Min(1))
    .Shape(ScalarOutput()) GRADIENT([](Backprop& b) {
      // The gradient of an optional holds the gradients of its components.
      const OutputList components = b.Values("components");
      std::vector<DataType> types;
      std::vector<PartialShape> shapes;
      for (const Output& component : components) {
        types.push_back(component.dtype());
        shapes.push_back(component.shape());
      }
      b.IntoList("components", OptionalGetValue(b.Of(0), types, shapes));
    });

OP(OptionalGetValue, "Returns the components of an optional that holds some.")
    .Input("optional", DT_VARIANT)
    .Output("components", "output_types")
    .With(ElementAttrs)
    .Shape(ElementShapes) GRADIENT([](Backprop& b) {
      b.Into("optional", OptionalFromValue(b.ListOf("components")));
    });

OP(OptionalHasValue, "Returns whether an optional holds components.")
    .Input("optional", DT_VARIANT)
    .Output("has_value", DT_BOOL)
    .Shape(ScalarOutput());

OP(OptionalNone, "Makes an optional that holds nothing.")
    .Output("optional", DT_VARIANT)
    .Shape(ScalarOutput());

}  // namespace
}  // namespace sluice
