#include "training/optimizer/hyper_parameter.h"

#include "ops/builders/constant.h"

namespace sluice {

Output HyperParameter::In(Graph& graph, std::string_view name) const {
  if (const float* value = std::get_if<float>(&source_)) return Constant(graph, *value, name);
  if (const Output* tensor = std::get_if<Output>(&source_)) return *tensor;
  if (const Variable* variable = std::get_if<Variable>(&source_)) return variable->Read();
  return std::get<Function>(source_)(graph);
}

std::optional<float> HyperParameter::constant() const {
  const float* value = std::get_if<float>(&source_);
  return value == nullptr ? std::nullopt : std::optional<float>(*value);
}

}  // namespace sluice
