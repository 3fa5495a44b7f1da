#include "tools/commands/graph_facts.h"

#include <set>
#include <string_view>

#include "executor/kernel/kernel.h"
#include "graph/format/graph_def.h"
#include "graph/ir/graph.h"
#include "graph/ir/unregistered_op.h"
#include "graph/status.h"
#include "tools/commands/model.h"

namespace sluice {
namespace {

void CountInputs(const pb::NodeDef& node, GraphFacts& facts, std::set<std::string>& used) {
  for (const std::string& input : node.input()) {
    const bool is_control = !input.empty() && input[0] == '^';
    ++(is_control ? facts.control_edges : facts.edges);
    used.insert(is_control ? input.substr(1) : input.substr(0, input.find(':')));
  }
}

// Without `graph`, outputs are unknown.
NodeFacts Describe(const pb::NodeDef& def, const Graph* graph) {
  NodeFacts facts{.name = def.name(), .op = def.op()};
  const Node* node = graph == nullptr ? nullptr : graph->Find(def.name());
  for (int i = 0; node != nullptr && i < node->num_outputs(); ++i) {
    facts.outputs.push_back({.dtype = node->output_type(i), .shape = node->output_shape(i)});
  }
  return facts;
}

void CountNodes(const pb::GraphDef& def, const Graph* graph, GraphFacts& facts) {
  std::set<std::string> used;
  for (const pb::NodeDef& node : def.node()) {
    ++facts.ops[node.op()];
    ++facts.devices[node.device().empty() ? "any" : node.device()];
    CountInputs(node, facts, used);
    if (node.op() == "Const") {
      ++facts.constants;
      const auto value = node.attr().find("value");
      if (value != node.attr().end()) facts.constant_bytes += value->second.ByteSizeLong();
    }
    if (node.op() == "Placeholder" || node.op() == "PlaceholderWithDefault") {
      facts.inputs.push_back(Describe(node, graph));
    }
  }
  for (const pb::NodeDef& node : def.node()) {
    if (!used.contains(node.name())) facts.outputs.push_back(Describe(node, graph));
  }
}

void CountVariables(const Graph& graph, GraphFacts& facts) {
  static const std::set<std::string, std::less<>> kOps = {"Variable", "VariableV2", "VarHandleOp"};
  facts.variables = 0;
  for (const Node* node : graph.nodes()) {
    if (!kOps.contains(node->op())) continue;
    ++facts.variables;
    const auto* shape = node->FindAttr<PartialShape>("shape");
    const auto* dtype = node->FindAttr<DataType>("dtype");
    if (shape != nullptr && dtype != nullptr && shape->IsFullyDefined()) {
      facts.variable_bytes += shape->num_elements() * static_cast<int64_t>(DataTypeSize(*dtype));
    } else {
      ++facts.variables_of_unknown_size;
    }
  }
}

// Finds the nodes of ops that are not registered, also in functions, and those without a kernel.
void FindNodesThatCannotRun(const pb::GraphDef& def, const Graph& graph, GraphFacts& facts) {
  std::set<std::string_view> functions;
  for (const auto& f : def.library().function()) functions.insert(f.signature().name());
  const auto find_unknown = [&](const auto& nodes, const std::string& function) {
    for (const pb::NodeDef& node : nodes) {
      if (OpRegistry::Global().Find(node.op()) != nullptr || functions.contains(node.op()))
        continue;
      facts.unknown_ops.push_back({.name = node.name(), .op = node.op(), .function = function});
    }
  };
  find_unknown(def.node(), "");
  for (const auto& f : def.library().function()) find_unknown(f.node_def(), f.signature().name());
  for (const Node* node : graph.nodes()) {
    const bool needs_kernel = node->role() == OpRole::kKernel && IsRegistered(*node);
    if (needs_kernel && !KernelRegistry::Global().Find(*node, "CPU").ok()) {
      facts.without_kernel.push_back({.name = node->name(), .op = std::string(node->op())});
    }
  }
}

std::vector<TensorFacts> Describe(const TensorNames& names, const Graph* graph) {
  std::vector<TensorFacts> tensors;
  for (const auto& [key, name] : names) {
    tensors.push_back({.key = key, .name = name});
    if (graph == nullptr) continue;
    const absl::StatusOr<Output> tensor = graph->FindOutput(name);
    if (!tensor.ok() || tensor->node->num_outputs() == 0) continue;
    tensors.back().dtype = tensor->dtype();
    tensors.back().shape = tensor->shape();
  }
  return tensors;
}

}  // namespace

GraphFacts FactsOf(const pb::MetaGraphDef& meta) {
  const pb::GraphDef& def = meta.graph_def();
  GraphFacts facts;
  Graph graph;
  facts.problem = ImportGraphDef(def, graph).status();
  const Graph* made = facts.problem.ok() ? &graph : nullptr;
  for (const std::string& tag : meta.meta_info_def().tags()) facts.tags.push_back(tag);
  facts.producer = def.versions().producer();
  facts.min_consumer = def.versions().min_consumer();
  facts.nodes = def.node_size();
  facts.functions = def.library().function_size();
  CountNodes(def, made, facts);
  if (made != nullptr) {
    CountVariables(graph, facts);
    FindNodesThatCannotRun(def, graph, facts);
  }
  for (const auto& [name, collection] : meta.collection_def()) {
    facts.collections[name] =
        collection.node_list().value_size() + collection.bytes_list().value_size() +
        collection.int64_list().value_size() + collection.float_list().value_size() +
        collection.any_list().value_size();
  }
  for (const auto& [name, signature] : meta.signature_def()) {
    facts.signatures[name] = {Describe(NamesOf(signature.inputs()), made),
                              Describe(NamesOf(signature.outputs()), made)};
  }
  return facts;
}

}  // namespace sluice
