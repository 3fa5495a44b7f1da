// Functions on all variables of a graph: collections, initialisation, the global step.
#include "graph/build/group.h"
#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "ops/array/shaping.h"
#include "ops/indexing/subscript.h"
#include "ops/state/variable.h"

namespace sluice {

std::vector<Variable> Variables(const Graph& graph, std::string_view collection) {
  std::vector<Variable> variables;
  for (const std::string& name : graph.Collection(collection)) {
    // Skips tensors in the collection that are not variables.
    if (absl::StatusOr<Variable> v = Variable::Find(graph, name); v.ok()) variables.push_back(*v);
  }
  return variables;
}
std::vector<Variable> GlobalVariables(const Graph& graph) {
  return Variables(graph, kGlobalVariables);
}
std::vector<Variable> LocalVariables(const Graph& graph) {
  return Variables(graph, kLocalVariables);
}
std::vector<Variable> TrainableVariables(const Graph& graph) {
  return Variables(graph, kTrainableVariables);
}

Operation InitializeVariables(Graph& graph, const std::vector<Variable>& variables,
                              std::string_view name, At at) {
  std::vector<Operation> initializers;
  for (const Variable& v : variables) initializers.push_back(v.initializer());
  return Group(graph, initializers, name, at);
}
Operation InitializeVariables(Graph& graph, std::string_view name, At at) {
  return InitializeVariables(graph, GlobalVariables(graph), name, at);
}
Operation InitializeLocalVariables(Graph& graph, std::string_view name, At at) {
  return InitializeVariables(graph, LocalVariables(graph), name, at);
}

Output ReportUninitializedVariables(Graph& graph, std::string_view name, At at) {
  std::vector<Variable> all = GlobalVariables(graph);
  for (const Variable& v : LocalVariables(graph)) all.push_back(v);
  return ReportUninitializedVariables(graph, all, name, at);
}

Output ReportUninitializedVariables(Graph& graph, const std::vector<Variable>& variables,
                                    std::string_view name, At at) {
  NameScope scope(graph, name);
  OutputList initialized;
  std::vector<std::string> names;
  for (const Variable& v : variables) {
    initialized.push_back(v.IsInitialized("", at));
    names.push_back(v.name());
  }
  DeviceScope cpu(graph, "/device:CPU:0");
  if (variables.empty()) return Constant(graph, names, "Const", at);
  const Output all = Stack(initialized, 0, {}, at);
  const Output missing = NodeBuilder(&graph, "LogicalNot", at).Input(all).Finish();
  return BooleanMask(Constant(graph, names, "Const", at), missing, "boolean_mask", at);
}

Variable GlobalStep(Graph& graph, const VariableOptions& options, At at) {
  const std::vector<Variable> made = Variables(graph, kGlobalStep);
  if (!made.empty()) return made[0];
  NameScope root(graph, "");
  Variable step(graph, "global_step", PartialShape::Scalar(), Zeros(), options, at);
  if (step) graph.AddToCollection(kGlobalStep, step.handle().name());
  return step;
}

}  // namespace sluice
