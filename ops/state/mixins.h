// Mixins for declarations of ops that make a resource and output its name. The name has one of two
// forms: a resource handle, or (in old graphs) a reference to two strings, container and name. A
// mixin is a function that adds inputs, outputs or attributes to an op's declaration
// (OpDefBuilder::With).
#ifndef SLUICE_OPS_STATE_MIXINS_H_
#define SLUICE_OPS_STATE_MIXINS_H_

#include <string>
#include <utility>

#include "graph/infer/shape_context.h"
#include "graph/op/mixins.h"
#include "graph/op/op_def.h"

namespace sluice {

// The attributes that determine the name of the resource.
inline void ContainerAttrs(OpDefBuilder& op) {
  op.With(Attrs({"container", "shared_name"}, StringAttr(""))).Stateful();
}

inline auto MakesResourceHandle(std::string output) {
  return [output = std::move(output)](OpDefBuilder& op) {
    op.Output(output, DT_RESOURCE).Shape(ScalarOutput()).Stateful();
  };
}

inline auto MakesRefHandle(std::string output) {
  return [output = std::move(output)](OpDefBuilder& op) {
    op.RefOutput(output, DT_STRING)
        .Shape([](ShapeContext& c) { return c.SetOutput(0, PartialShape::Vector(2)); })
        .Stateful();
  };
}

}  // namespace sluice

#endif  // SLUICE_OPS_STATE_MIXINS_H_
