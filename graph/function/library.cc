#include "graph/function/library.h"

#include "graph/status.h"

namespace sluice {

absl::StatusOr<FunctionLibrary> FunctionLibrary::Parse(std::string_view serialised) {
  FunctionLibrary library;
  SLUICE_INVALID_IF(
      !library.proto_.ParseFromArray(serialised.data(), static_cast<int>(serialised.size())),
      "the graph's function library is not a FunctionDefLibrary");
  for (const pb::FunctionDef& f : library.proto_.function()) {
    library.functions_[f.signature().name()] = &f;
  }
  for (const pb::GradientDef& g : library.proto_.gradient()) {
    library.gradients_[g.function_name()] = g.gradient_func();
  }
  return library;
}

absl::StatusOr<const pb::FunctionDef*> FunctionLibrary::Find(std::string_view name) const {
  auto it = functions_.find(name);
  if (it != functions_.end()) return it->second;
  return absl::NotFoundError(StrCat("Failed to find function '", name, "' in function library"));
}

std::string FunctionLibrary::GradientOf(std::string_view name) const {
  auto it = gradients_.find(name);
  return it == gradients_.end() ? "" : it->second;
}

// The concatenation of two serialized messages is a message with the elements of both.
void AddFunction(Graph& graph, const pb::FunctionDef& function) {
  pb::FunctionDefLibrary one;
  *one.add_function() = function;
  graph.function_library() += one.SerializeAsString();
}

std::string UniqueFunctionName(const FunctionLibrary& library, std::string_view base) {
  std::string name(base);
  for (int i = 1; library.Contains(name); ++i) name = StrCat(base, "_", i);
  return name;
}

}  // namespace sluice
