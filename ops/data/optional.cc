// Optionals: a tuple of tensors, or nothing, as one value.
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/data/optional_builders.h"
#endif

namespace sluice {
namespace {

absl::Status ComponentShapes(ShapeContext& c) {
  const auto& shapes = c.attr<std::vector<PartialShape>>("output_shapes");
  if (static_cast<int>(shapes.size()) != c.num_outputs()) {
    return InvalidArgument("`output_shapes` must be the same length as `output_types` (",
                           shapes.size(), " vs. ", c.num_outputs(), ")");
  }
  for (int i = 0; i < c.num_outputs(); ++i) {
    SLUICE_RETURN_IF_ERROR(c.SetOutput(i, shapes[static_cast<size_t>(i)]));
  }
  return absl::OkStatus();
}

OP(IteratorGetNextAsOptional, "The next element; nothing at the end.")
    .Input("iterator", DT_RESOURCE)
    .Output("optional", DT_VARIANT)
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Stateful()
    .Shape(ScalarOutput());

OP(OptionalFromValue, "An optional that has the components.")
    .Input("components", "Toutput_types")
    .Output("optional", DT_VARIANT)
    .Attr("Toutput_types", TypeListAttr().Min(1))
    .Shape(ScalarOutput()) GRADIENT([](Backprop& b) {
      // The gradient of an optional is one of its components' gradients.
      const OutputList components = b.Values("components");
      std::vector<DataType> types;
      std::vector<PartialShape> shapes;
      for (const Output& component : components) {
        types.push_back(component.dtype());
        shapes.push_back(component.shape());
      }
      b.IntoList("components", OptionalGetValue(b.Of(0), types, shapes));
    });

OP(OptionalGetValue, "The components of an optional that has them.")
    .Input("optional", DT_VARIANT)
    .Output("components", "output_types")
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Shape(ComponentShapes) GRADIENT([](Backprop& b) {
      b.Into("optional", OptionalFromValue(b.ListOf("components")));
    });

OP(OptionalHasValue, "Whether an optional has components.")
    .Input("optional", DT_VARIANT)
    .Output("has_value", DT_BOOL)
    .Shape(ScalarOutput());

OP(OptionalNone, "An optional without components.")
    .Output("optional", DT_VARIANT)
    .Shape(ScalarOutput());

}  // namespace
}  // namespace sluice
