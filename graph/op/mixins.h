// Mixins that ops of all folders can use. A mixin is a function for OpDefBuilder::With that
// declares a part of an op.
#ifndef SLUICE_GRAPH_OP_MIXINS_H_
#define SLUICE_GRAPH_OP_MIXINS_H_

#include <string>
#include <utility>
#include <vector>

#include "graph/op/op_def.h"

namespace sluice {

// Declares inputs of one type, in this order: `.With(Inputs({"start", "limit"}, DT_INT64))`.
inline auto Inputs(std::vector<std::string> names, ArgType type) {
  return [names = std::move(names), type = std::move(type)](OpDefBuilder& op) {
    for (const std::string& name : names) op.Input(name, type);
  };
}

// Declares outputs of one type, in this order.
inline auto Outputs(std::vector<std::string> names, ArgType type) {
  return [names = std::move(names), type = std::move(type)](OpDefBuilder& op) {
    for (const std::string& name : names) op.Output(name, type);
  };
}

// Declares attributes of one kind, in this order.
inline auto Attrs(std::vector<std::string> names, AttrDef def) {
  return [names = std::move(names), def = std::move(def)](OpDefBuilder& op) {
    for (const std::string& name : names) op.Attr(name, def);
  };
}

}  // namespace sluice

#endif  // SLUICE_GRAPH_OP_MIXINS_H_
