#include "training/optimizer/hyper_parameter.h"

#include "ops/builders/sugar.h"

namespace sluice {

Output HyperParameter::In(Graph& graph, std::string_view name) const {
  return tensor_ ? tensor_ : Constant(graph, value_, name);
}

}  // namespace sluice
