// Mixins and helpers that declarations of dataset ops share. A dataset is a scalar tensor of dtype
// variant. A mixin is a function that adds inputs, outputs or attributes to an op's declaration
// (OpDefBuilder::With).
#ifndef SLUICE_OPS_DATA_MIXINS_H_
#define SLUICE_OPS_DATA_MIXINS_H_

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "graph/infer/shape_context.h"
#include "graph/op/mixins.h"
#include "graph/op/op_def.h"
#include "graph/status.h"

namespace sluice {

inline void MakesDataset(OpDefBuilder& op) {
  op.Output("handle", DT_VARIANT).Shape(ScalarOutput());
}

inline void TransformsDataset(OpDefBuilder& op) {
  op.Input("input_dataset", DT_VARIANT).With(MakesDataset);
}

// Attributes for the types and static shapes of the components of an element.
inline void ElementAttrs(OpDefBuilder& op) {
  op.Attr("output_types", TypeListAttr().Min(1)).Attr("output_shapes", ShapeListAttr().Min(1));
}

inline void Metadata(OpDefBuilder& op) { op.Attr("metadata", StringAttr("")); }

inline void ElementsAndMetadata(OpDefBuilder& op) { op.With(ElementAttrs).With(Metadata); }

// Declares an op that transforms a dataset with the function in attribute `f`. The function also
// gets the tensors of the input list `other_arguments`.
inline auto TransformsDatasetBy(std::string f) {
  return [f = std::move(f)](OpDefBuilder& op) {
    op.With(TransformsDataset)
        .Input("other_arguments", "Targuments")
        .Attr(f, FunctionAttrDef())
        .Attr("Targuments", TypeListAttr().Min(0));
  };
}

// Declares an attribute for each function `f`, and the input list `<f><input_suffix>` of its
// captured tensors, whose types are in attribute `T<f><type_suffix>`. The function gets these
// tensors after the components of an element.
inline auto CallsFunctions(std::vector<std::string> functions, std::string input_suffix,
                           std::string type_suffix) {
  return [=](OpDefBuilder& op) {
    for (const std::string& f : functions) op.Input(f + input_suffix, "T" + f + type_suffix);
    for (const std::string& f : functions) op.Attr(f, FunctionAttrDef());
    for (const std::string& f : functions) op.Attr("T" + f + type_suffix, TypeListAttr().Min(0));
  };
}

// Declares `op` as an older name of the op `name`. `later` lists the attributes that the older op
// lacks. `name` must be declared earlier in the same file.
inline bool DeclareOlderName(const char* op, const char* name,
                             const std::vector<std::string>& later) {
  OpDef def = *OpRegistry::Global().Find(name);
  def.name = op;
  def.doc = StrCat("The older name of ", name, ".");
  def.hidden = true;
  std::erase_if(def.attrs, [&later](const AttrDef& attr) {
    return std::find(later.begin(), later.end(), attr.name) != later.end();
  });
  OpRegistry::Global().Add(std::move(def));
  return true;
}
#define OLDER_NAME(op, name, ...) \
  static const bool sluice_op_##op = ::sluice::DeclareOlderName(#op, #name, {__VA_ARGS__})

// Sets the shapes of the outputs, the components of an element, from attribute `output_shapes`.
inline absl::Status ElementShapes(ShapeContext& c) {
  const auto& shapes = c.attr<std::vector<PartialShape>>("output_shapes");
  SLUICE_INVALID_IF(static_cast<int>(shapes.size()) != c.num_outputs(),
                    "`output_shapes` must be the same length as `output_types` (", shapes.size(),
                    " vs. ", c.num_outputs(), ")");
  for (int i = 0; i < c.num_outputs(); ++i) {
    SLUICE_RETURN_IF_ERROR(c.SetOutput(i, shapes[static_cast<size_t>(i)]));
  }
  return absl::OkStatus();
}

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_MIXINS_H_
