#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_join.h"
#include "executor/kernel/kernel.h"
#include "fmt/format.h"
#include "graph/format/graph_def.h"
#include "graph/format/proto/saved_model.pb.h"
#include "graph/ir/graph.h"
#include "graph/ir/unregistered_op.h"
#include "graph/status.h"
#include "tools/commands/command.h"
#include "tools/commands/graph_file.h"
#include "tools/commands/inspect_checkpoint.h"
#include "tools/commands/model.h"
#include "training/checkpoint/saved_model.h"

ABSL_FLAG(std::string, tensor, "", "inspect: print the values of this tensor of a checkpoint");

namespace sluice {
namespace {

constexpr size_t kNamesMax = 20;  // of listed inputs, outputs and ops

using Counts = std::map<std::string, int>;

// The counts of a GraphDef, which may be invalid.
struct Census {
  int64_t edges = 0;
  int64_t control_edges = 0;
  int64_t constants = 0;
  int64_t constant_bytes = 0;
  Counts ops;
  Counts devices;
  std::vector<const pb::NodeDef*> inputs;   // placeholders
  std::vector<const pb::NodeDef*> outputs;  // nodes that no other node reads
};

void CountInputs(const pb::NodeDef& node, Census& census, std::set<std::string>& used) {
  for (const std::string& input : node.input()) {
    const bool is_control = !input.empty() && input[0] == '^';
    ++(is_control ? census.control_edges : census.edges);
    used.insert(is_control ? input.substr(1) : input.substr(0, input.find(':')));
  }
}

Census TakeCensus(const pb::GraphDef& graph) {
  Census census;
  std::set<std::string> used;
  for (const pb::NodeDef& node : graph.node()) {
    ++census.ops[node.op()];
    ++census.devices[node.device().empty() ? "any" : node.device()];
    CountInputs(node, census, used);
    if (node.op() == "Const") {
      ++census.constants;
      const auto value = node.attr().find("value");
      if (value != node.attr().end()) census.constant_bytes += value->second.ByteSizeLong();
    }
    if (node.op() == "Placeholder" || node.op() == "PlaceholderWithDefault") {
      census.inputs.push_back(&node);
    }
  }
  for (const pb::NodeDef& node : graph.node()) {
    if (!used.contains(node.name())) census.outputs.push_back(&node);
  }
  return census;
}

std::string MostFirst(const Counts& counts) {
  std::vector<std::pair<std::string, int>> rows(counts.begin(), counts.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> words;
  for (const auto& [name, count] : rows) words.push_back(StrCat(name, " ", count));
  if (words.size() > kNamesMax) {
    const size_t more = words.size() - kNamesMax;
    words.resize(kNamesMax);
    words.push_back(StrCat("and ", more, " more"));
  }
  return absl::StrJoin(words, ", ");
}

// "x (Placeholder) float [?,3]". Without `graph`, types are unknown.
std::string Describe(const pb::NodeDef& def, const Graph* graph) {
  std::string text = StrCat(def.name(), " (", def.op(), ")");
  const Node* node = graph == nullptr ? nullptr : graph->Find(def.name());
  for (int i = 0; node != nullptr && i < node->num_outputs(); ++i) {
    StrAppend(&text, i > 0 ? ", " : " ", DataTypeName(node->output_type(i)), " ",
              node->output_shape(i).ToString());
  }
  return text;
}

void Print(std::string_view label, std::string_view text) { fmt::print("{:<12}{}\n", label, text); }

// Nothing if there are no lines.
void PrintList(std::string_view label, const std::vector<std::string>& lines) {
  for (size_t i = 0; i < lines.size() && i < kNamesMax; ++i) Print(i == 0 ? label : "", lines[i]);
  if (lines.size() > kNamesMax) Print("", StrCat("and ", lines.size() - kNamesMax, " more"));
}

void PrintNodes(std::string_view label, const std::vector<const pb::NodeDef*>& nodes,
                const Graph* graph) {
  std::vector<std::string> lines;
  for (const pb::NodeDef* node : nodes) lines.push_back(Describe(*node, graph));
  if (lines.empty()) lines.push_back("none");
  PrintList(label, lines);
}

// Prints the variables with their sizes. Does nothing without a graph.
void PrintVariables(const Graph* graph) {
  static const std::set<std::string, std::less<>> kOps = {"Variable", "VariableV2", "VarHandleOp"};
  int64_t count = 0, bytes = 0, unknown = 0;
  for (const Node* node : graph == nullptr ? std::vector<Node*>() : graph->nodes()) {
    if (!kOps.contains(node->op())) continue;
    ++count;
    const auto* shape = node->FindAttr<PartialShape>("shape");
    const auto* dtype = node->FindAttr<DataType>("dtype");
    const bool known = shape != nullptr && dtype != nullptr && shape->IsFullyDefined();
    known ? bytes += shape->num_elements() * static_cast<int64_t>(DataTypeSize(*dtype)) : ++unknown;
  }
  if (graph == nullptr) return;
  Print("variables", unknown == 0
                         ? StrCat(count, ", ", bytes, " bytes")
                         : StrCat(count, ", ", bytes, " bytes and ", unknown, " of unknown size"));
}

// Prints the nodes that no step can run: those of ops that are not registered, also in functions,
// and those without a kernel.
void PrintNodesThatCannotRun(const pb::GraphDef& def, const Graph& graph) {
  std::set<std::string_view> functions;
  for (const auto& f : def.library().function()) functions.insert(f.signature().name());
  const auto is_known = [&](const std::string& op) {
    return OpRegistry::Global().Find(op) != nullptr || functions.contains(op);
  };
  std::vector<std::string> unknown, without_kernel;
  for (const pb::NodeDef& node : def.node()) {
    if (!is_known(node.op())) unknown.push_back(StrCat(node.name(), " (", node.op(), ")"));
  }
  for (const auto& f : def.library().function()) {
    for (const pb::NodeDef& node : f.node_def()) {
      if (is_known(node.op())) continue;
      unknown.push_back(
          StrCat(node.name(), " (", node.op(), ") in function ", f.signature().name()));
    }
  }
  for (const Node* node : graph.nodes()) {
    const bool needs_kernel = node->role() == OpRole::kKernel && IsRegistered(*node);
    if (needs_kernel && !KernelRegistry::Global().Find(*node, "CPU").ok()) {
      without_kernel.push_back(StrCat(node->name(), " (", node->op(), ")"));
    }
  }
  PrintList("unknown op", unknown);
  PrintList("no kernel", without_kernel);
}

void PrintCollections(const pb::MetaGraphDef& meta) {
  std::map<std::string, int> collections;
  for (const auto& [name, collection] : meta.collection_def()) {
    collections[name] = collection.node_list().value_size() + collection.bytes_list().value_size() +
                        collection.int64_list().value_size() +
                        collection.float_list().value_size() + collection.any_list().value_size();
  }
  if (!collections.empty()) Print("collections", MostFirst(collections));
}

// "x = x:0 float [?,3], y = y:0 float [?]". Without `graph`, types are unknown.
std::string Describe(const TensorNames& names, const Graph* graph) {
  std::vector<std::string> words;
  for (const auto& [key, name] : names) {
    words.push_back(StrCat(key, " = ", name));
    if (graph == nullptr) continue;
    const absl::StatusOr<Output> tensor = graph->FindOutput(name);
    if (!tensor.ok() || tensor->node->num_outputs() == 0) continue;
    StrAppend(&words.back(), " ", DataTypeName(tensor->dtype()), " ", tensor->shape().ToString());
  }
  return absl::StrJoin(words, ", ");
}

void PrintSignatures(const pb::MetaGraphDef& meta, const Graph* graph) {
  std::map<std::string, std::string> rows;
  for (const auto& [name, signature] : meta.signature_def()) {
    rows[name] = StrCat(Describe(NamesOf(signature.inputs()), graph), " -> ",
                        Describe(NamesOf(signature.outputs()), graph));
  }
  for (const auto& [name, row] : rows) Print("signature", StrCat(name, ": ", row));
}

void InspectGraph(const pb::MetaGraphDef& meta) {
  const pb::GraphDef& def = meta.graph_def();
  const Census census = TakeCensus(def);
  Graph graph;
  const absl::Status problem = ImportGraphDef(def, graph).status();
  const Graph* made = problem.ok() ? &graph : nullptr;

  const auto& tags = meta.meta_info_def().tags();
  if (!tags.empty()) Print("tags", absl::StrJoin(tags, ", "));
  Print("versions", StrCat("producer ", def.versions().producer(), ", min_consumer ",
                           def.versions().min_consumer()));
  Print("nodes", StrCat(def.node_size()));
  Print("edges", StrCat(census.edges, " data, ", census.control_edges, " control"));
  Print("functions", StrCat(def.library().function_size()));
  Print("constants", StrCat(census.constants, ", ", census.constant_bytes, " bytes"));
  PrintVariables(made);
  Print("devices", MostFirst(census.devices));
  Print("ops", MostFirst(census.ops));
  PrintNodes("inputs", census.inputs, made);
  PrintNodes("outputs", census.outputs, made);
  if (made != nullptr) PrintNodesThatCannotRun(def, graph);
  PrintCollections(meta);
  PrintSignatures(meta, made);
  Print("problem", problem.ok() ? "none" : problem.ToString());
}

}  // namespace

absl::Status InspectCommand(const Arguments& arguments) {
  if (arguments.size() != 1) {
    return InvalidArgument("'inspect' takes one file, got ", arguments.size(), " arguments");
  }
  if (IsCheckpoint(arguments[0])) {
    return InspectCheckpoint(arguments[0], absl::GetFlag(FLAGS_tensor));
  }
  if (IsSavedModel(arguments[0])) {
    SLUICE_ASSIGN_OR_RETURN(const pb::SavedModel model, ReadSavedModel(arguments[0]));
    Print("model", StrCat(arguments[0], ", ", model.ByteSizeLong(), " bytes, ",
                          model.meta_graphs_size(), " graphs"));
    for (const pb::MetaGraphDef& meta : model.meta_graphs()) InspectGraph(meta);
    return absl::OkStatus();
  }
  SLUICE_ASSIGN_OR_RETURN(const GraphFile file, ReadGraphFile(arguments[0]));
  Print("file", StrCat(arguments[0], ", ", file.bytes, " bytes"));
  InspectGraph(file.meta);
  return absl::OkStatus();
}

}  // namespace sluice
