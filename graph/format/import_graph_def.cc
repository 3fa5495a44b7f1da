// Converts a GraphDef to a Graph.
#include <algorithm>
#include <optional>
#include <queue>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "graph/format/attr_value.h"
#include "graph/format/graph_def.h"
#include "graph/format/imported_functions.h"
#include "graph/format/text.h"
#include "graph/infer/shape_context.h"
#include "graph/ir/control_flow.h"
#include "graph/ir/names.h"
#include "graph/ir/unregistered_op.h"
#include "graph/status.h"

namespace sluice {
namespace {

// One input of a node of the message.
struct Source {
  int node = -1;  // index in the message; -1: `mapped` instead
  int index = 0;  // output; -1 = control
  Output mapped;
};

class Importer {
 public:
  Importer(const pb::GraphDef& def, Graph& graph, const ImportOptions& options)
      : def_(def), graph_(graph), options_(options), budget_(options.limits) {}

  absl::StatusOr<ImportResult> Run();

 private:
  // Checks the whole message before anything is added.
  absl::Status Check();
  absl::Status CheckVersions() const;
  absl::Status IndexNodes();
  absl::Status ReadSources(int n);
  const std::pair<const std::string, Output>* FindMapped(const TensorName& name) const;
  const Output* Mapped(const TensorName& name);
  absl::Status CheckColocation(int n) const;
  absl::Status CheckRequest() const;
  absl::Status CheckLibrary();
  absl::Status AddNodes();
  absl::Status CycleError(int processed) const;
  absl::Status AddNode(int n);
  // `op` is null for a call of a function and for a node whose op is not registered.
  absl::Status ReadAttrs(int n, const OpDef* op, AttrMap* attrs);
  void RenameColocation(AttrMap* attrs) const;
  absl::Status Connect(int n, NodeSpec* spec);
  absl::StatusOr<Output> Resolve(int n, const Source& source) const;
  absl::Status InferNode(int n, const std::vector<PartialShape>* declared);
  absl::Status AddBackEdges();
  absl::Status CheckReturnOutputs() const;
  void MergeVersions();
  void CollectReturns(ImportResult* result) const;

  std::string NewName(std::string_view name) const {
    return options_.prefix.empty() ? std::string(name) : StrCat(options_.prefix, "/", name);
  }
  const pb::NodeDef& node(int n) const { return def_.node(n); }
  // Whether the edge closes a loop. The Merge does not wait for it.
  bool IsBackEdge(const Source& source, int n) const {
    return source.index >= 0 && roles_[n] == OpRole::kMerge &&
           roles_[source.node] == OpRole::kNextIteration;
  }

  const pb::GraphDef& def_;
  Graph& graph_;
  const ImportOptions& options_;
  FormatBudget budget_;
  absl::flat_hash_map<absl::string_view, int> by_name_;
  std::vector<std::vector<Source>> sources_;
  std::vector<std::vector<int>> consumers_;  // one entry per use, without back edges
  std::vector<int> pending_;
  std::vector<Node*> made_;    // null until added
  std::vector<OpRole> roles_;  // kKernel for unknown ops
  struct BackEdge {
    int node;
    int input;
    Source source;
  };
  std::vector<BackEdge> back_edges_;
  std::vector<Node*> added_;
  absl::flat_hash_set<std::string> used_mappings_;
  std::optional<ImportedFunctions> functions_;  // if the message has any, or calls any by name
};

absl::Status Importer::CheckVersions() const {
  const pb::VersionDef& v = def_.versions();
  SLUICE_INVALID_IF(v.producer() < 0, "GraphDef producer version ", v.producer(),
                    " below min producer 0 supported by TensorFlow 2.21.0.  Please "
                    "regenerate your graph.");
  SLUICE_INVALID_IF(v.min_consumer() > kGraphDefVersion, "GraphDef min consumer version ",
                    v.min_consumer(), " above current version ", kGraphDefVersion,
                    " for TensorFlow 2.21.0.  Please upgrade TensorFlow.");
  for (int bad : v.bad_consumers()) {
    SLUICE_INVALID_IF(bad == kGraphDefVersion, "GraphDef disallows consumer version ", bad,
                      ".  Please upgrade TensorFlow: this version is likely buggy.");
  }
  return absl::OkStatus();
}

absl::Status Importer::IndexNodes() {
  SLUICE_INVALID_IF(def_.node_size() > options_.limits.max_nodes, "GraphDef has ", def_.node_size(),
                    " nodes, at most ", options_.limits.max_nodes, " are allowed");
  by_name_.reserve(def_.node_size());
  for (int n = 0; n < def_.node_size(); ++n) {
    const std::string& name = node(n).name();
    SLUICE_INVALID_IF(!IsValidNodeName(name, options_.allow_internal_names), "Node '", name,
                      "': Node name contains invalid characters");
    SLUICE_INVALID_IF(!by_name_.emplace(name, n).second, "Node '", name, "' is not unique");
    SLUICE_INVALID_IF(node(n).op().empty(), "Node '", name, "' does not specify an operation");
    roles_.push_back(TraitsOfOp(node(n).op()).role);
    if (const std::string name_here = NewName(name); graph_.Find(name_here) != nullptr) {
      return InvalidArgument("Node name '", name_here, "' already exists in the Graph");
    }
  }
  return absl::OkStatus();
}

// The entry of input_map for a tensor, or null. The keys "a" and "a:0" name the same tensor.
const std::pair<const std::string, Output>* Importer::FindMapped(const TensorName& name) const {
  const std::string key =
      name.index < 0 ? StrCat("^", name.node) : StrCat(name.node, ":", name.index);
  auto mapped = options_.input_map.find(key);
  if (mapped == options_.input_map.end() && name.index == 0) {
    mapped = options_.input_map.find(name.node);
  }
  return mapped == options_.input_map.end() ? nullptr : &*mapped;
}

// The replacement of an input by input_map, or null.
const Output* Importer::Mapped(const TensorName& name) {
  const auto* mapped = FindMapped(name);
  if (mapped == nullptr) return nullptr;
  used_mappings_.insert(mapped->first);
  return &mapped->second;
}

absl::Status Importer::ReadSources(int n) {
  bool in_controls = false;
  absl::flat_hash_set<int> controls;  // a repeated control input counts once
  for (const std::string& input : node(n).input()) {
    const TensorName name = ParseTensorName(input);
    const bool is_control = name.index < 0;
    SLUICE_INVALID_IF(in_controls && !is_control, "Node '", node(n).name(),
                      "': Control dependencies must come after regular dependencies");
    in_controls = is_control;
    Source source{.index = name.index};
    if (const Output* mapped = Mapped(name)) {
      source.mapped = *mapped;
    } else if (auto it = by_name_.find(ToAbsl(name.node)); it != by_name_.end()) {
      source.node = it->second;
      if (is_control && !controls.insert(source.node).second) continue;
      if (!IsBackEdge(source, n)) consumers_[source.node].push_back(n);
    } else {
      return InvalidArgument("Node '", node(n).name(), "': Unknown input node '", input, "'");
    }
    sources_[n].push_back(source);
  }
  return absl::OkStatus();
}

absl::Status Importer::CheckColocation(int n) const {
  const auto classes = node(n).attr().find("_class");
  if (classes == node(n).attr().end()) return absl::OkStatus();
  for (const std::string& c : classes->second.list().s()) {
    if (!c.starts_with("loc:@")) continue;
    const std::string_view other = std::string_view(c).substr(5);
    const bool is_known = by_name_.contains(ToAbsl(other)) ||
                          (options_.prefix.empty() && graph_.Find(other) != nullptr);
    SLUICE_INVALID_IF(!is_known, "Node '", node(n).name(),
                      "' expects to be colocated with unknown node '", other, "'");
  }
  return absl::OkStatus();
}

absl::Status Importer::CheckRequest() const {
  for (const auto& [key, output] : options_.input_map) {
    SLUICE_INVALID_IF(!output, "input_map gives no tensor for '", key, "'");
  }
  auto check = [&](std::string_view what, std::string_view node_name) {
    if (by_name_.contains(ToAbsl(node_name))) return absl::OkStatus();
    return InvalidArgument("Requested return ", what, " '", node_name, "' not found in graph def");
  };
  for (const std::string& t : options_.return_outputs) {
    const TensorName name = ParseTensorName(t);
    if (FindMapped(name) != nullptr) continue;
    SLUICE_RETURN_IF_ERROR(check("tensor", name.node));
  }
  for (const std::string& name : options_.return_nodes) {
    SLUICE_RETURN_IF_ERROR(check("node", name));
  }
  return absl::OkStatus();
}

// Merges the functions of the message into those of the graph.
absl::Status Importer::CheckLibrary() {
  const pb::FunctionDefLibrary& library = def_.library();
  const bool calls_by_name = std::any_of(
      def_.node().begin(), def_.node().end(),
      [](const pb::NodeDef& node) { return OpRegistry::Global().Find(node.op()) == nullptr; });
  if (library.function_size() == 0 && library.gradient_size() == 0 && !calls_by_name) {
    return absl::OkStatus();
  }
  return functions_.emplace().Merge(graph_.function_library(), library);
}

absl::Status Importer::CycleError(int processed) const {
  std::string some;
  int named = 0;
  for (int n = 0; n < def_.node_size() && named < 3; ++n) {
    if (made_[n] == nullptr && pending_[n] > 0) {
      StrAppend(&some, named++ == 0 ? ": " : ", ", "{{node ", node(n).name(), "}}");
    }
  }
  return InvalidArgument(def_.node_size() - processed, " nodes in a cycle", some);
}

absl::Status Importer::AddNodes() {
  pending_.resize(def_.node_size());
  for (const std::vector<int>& users : consumers_) {
    for (int n : users) ++pending_[n];
  }
  // Adds nodes in the order of the message, except where edges require another order.
  std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
  for (int n = 0; n < def_.node_size(); ++n) {
    if (pending_[n] == 0) ready.push(n);
  }
  int processed = 0;
  while (!ready.empty()) {
    const int n = ready.top();
    ready.pop();
    ++processed;
    SLUICE_RETURN_IF_ERROR(AddNode(n));
    for (int consumer : consumers_[n]) {
      if (--pending_[consumer] == 0) ready.push(consumer);
    }
  }
  return processed == def_.node_size() ? absl::OkStatus() : CycleError(processed);
}

absl::Status Importer::ReadAttrs(int n, const OpDef* op, AttrMap* attrs) {
  const bool drop_unknown =
      options_.ignore_unknown_attrs || def_.versions().producer() > kGraphDefVersion;
  for (const auto& [name, value] : node(n).attr()) {
    if (op != nullptr && !name.starts_with('_') && op->FindAttr(name) == nullptr) {
      if (drop_unknown) continue;
      return InvalidArgument("NodeDef mentions attr '", name, "' not in Op<name=", op->name,
                             ">; NodeDef: {{node ", node(n).name(), "}}");
    }
    absl::StatusOr<AttrValue> read = AttrFromProto(value, budget_, *options_.memory);
    if (absl::IsResourceExhausted(read.status())) {
      return AnnotateAfter(read.status(), AtNode(node(n).name()));
    }
    if (!read.ok()) {
      return Annotate(read.status(), StrCat("Node '", node(n).name(), "': attr '", name, "': "));
    }
    attrs->emplace(name, *std::move(read));
  }
  if (!options_.prefix.empty()) RenameColocation(attrs);
  return absl::OkStatus();
}

void Importer::RenameColocation(AttrMap* attrs) const {
  auto it = attrs->find("_class");
  if (it == attrs->end()) return;
  auto* classes = std::get_if<std::vector<std::string>>(&it->second);
  if (classes == nullptr) return;
  for (std::string& c : *classes) {
    if (c.starts_with("loc:@")) c = StrCat("loc:@", NewName(std::string_view(c).substr(5)));
  }
}

absl::StatusOr<Output> Importer::Resolve(int n, const Source& source) const {
  if (source.node < 0) return source.mapped;
  Node* from = made_[source.node];
  if (from == nullptr) return Output();  // a back edge
  SLUICE_INVALID_IF(IsRegistered(*from) && source.index >= from->num_outputs(), "Node '",
                    node(n).name(), "': Output ", source.index, " of node ", from->name(),
                    " does not exist. Node only has ", from->num_outputs(), " outputs.");
  return Output(from, source.index);
}

absl::Status Importer::Connect(int n, NodeSpec* spec) {
  for (const Source& source : sources_[n]) {
    if (source.index < 0) {
      spec->control_inputs.push_back(source.node < 0 ? source.mapped.node : made_[source.node]);
      continue;
    }
    SLUICE_ASSIGN_OR_RETURN(const Output input, Resolve(n, source));
    if (!input) {
      SLUICE_INVALID_IF(roles_[n] != OpRole::kMerge, "Node '", node(n).name(),
                        "' had a back edge, but only Merge nodes can have back edges.");
      back_edges_.push_back({n, static_cast<int>(spec->inputs.size()), source});
      spec->allow_missing_inputs = true;
    }
    spec->inputs.push_back(input);
  }
  if (sources_[n].empty()) spec->control_inputs = options_.control_dependencies;
  return absl::OkStatus();
}

absl::Status Importer::AddNode(int n) {
  const pb::FunctionDef* function = functions_ ? functions_->Find(node(n).op()) : nullptr;
  // Null for a call of a function. Also null if the op is not registered: then a step that runs the
  // node fails.
  const OpDef* op = function == nullptr ? OpRegistry::Global().Find(node(n).op()) : nullptr;
  const int deprecated_at = op == nullptr ? 0 : op->deprecated_at;
  if (deprecated_at > 0 && def_.versions().producer() >= deprecated_at) {
    return absl::UnimplementedError(
        StrCat("Op ", node(n).op(), " is not available in GraphDef version ",
               def_.versions().producer(), ". It has been removed in version ", deprecated_at, ". ",
               op->deprecation, ". [[{{node ", node(n).name(), "}}]]"));
  }
  NodeSpec spec;
  spec.name = NewName(node(n).name());
  spec.op = node(n).op();
  spec.device = node(n).device().empty() ? options_.default_device : node(n).device();
  SLUICE_RETURN_IF_ERROR(ReadAttrs(n, op, &spec.attrs));
  if (function != nullptr) {
    SLUICE_RETURN_IF_ERROR(
        Annotate(CallByAttribute(*function, &spec), StrCat("Node '", node(n).name(), "': ")));
  }
  SLUICE_RETURN_IF_ERROR(Connect(n, &spec));
  std::vector<PartialShape> declared;
  auto shapes = spec.attrs.find("_output_shapes");
  const bool has_shapes = shapes != spec.attrs.end();
  if (has_shapes) {
    if (auto* list = std::get_if<std::vector<PartialShape>>(&shapes->second)) declared = *list;
    spec.attrs.erase(shapes);
  }
  SLUICE_ASSIGN_OR_RETURN(made_[n], graph_.Add(std::move(spec)));
  added_.push_back(made_[n]);
  return options_.infer_shapes ? InferNode(n, has_shapes ? &declared : nullptr) : absl::OkStatus();
}

absl::Status Importer::InferNode(int n, const std::vector<PartialShape>* declared) {
  Node* made = made_[n];
  SLUICE_RETURN_IF_ERROR(InferShapes(made));
  if (declared == nullptr) return absl::OkStatus();
  for (int i = 0; i < made->num_outputs() && i < static_cast<int>(declared->size()); ++i) {
    SLUICE_INVALID_IF(!made->output_shape(i).IsCompatibleWith((*declared)[i]), "Node '",
                      node(n).name(),
                      "' has an _output_shapes attribute inconsistent with the GraphDef for "
                      "output #",
                      i, ": ", (*declared)[i].ToString(), " is not compatible with ",
                      made->output_shape(i).ToString());
  }
  return absl::OkStatus();
}

absl::Status Importer::AddBackEdges() {
  for (const BackEdge& edge : back_edges_) {
    SLUICE_ASSIGN_OR_RETURN(const Output source, Resolve(edge.node, edge.source));
    SLUICE_INVALID_IF(!IsNextIteration(*source.node), "Node '", node(edge.node).name(),
                      "' had a back edge from '", source.node->name(),
                      "', which is not a NextIteration node");
    SLUICE_RETURN_IF_ERROR(graph_.UpdateInput(made_[edge.node], edge.input, source));
  }
  return absl::OkStatus();
}

absl::Status Importer::CheckReturnOutputs() const {
  for (const std::string& t : options_.return_outputs) {
    const TensorName name = ParseTensorName(t);
    if (FindMapped(name) != nullptr) continue;
    const int outputs = made_[by_name_.at(ToAbsl(name.node))]->num_outputs();
    SLUICE_INVALID_IF(name.index < 0 || name.index >= outputs, "Invalid return output ", name.index,
                      " of node '", name.node, "', which has ", outputs, " output(s)");
  }
  return absl::OkStatus();
}

void Importer::MergeVersions() {
  GraphVersions& versions = graph_.versions();
  const pb::VersionDef& v = def_.versions();
  const bool first = graph_.num_nodes() == 0;
  versions.producer = first ? v.producer() : std::min(versions.producer, v.producer());
  versions.min_consumer =
      first ? v.min_consumer() : std::max(versions.min_consumer, v.min_consumer());
  if (first) versions.bad_consumers.clear();
  auto& bad = versions.bad_consumers;
  bad.insert(bad.end(), v.bad_consumers().begin(), v.bad_consumers().end());
  std::sort(bad.begin(), bad.end());
  bad.erase(std::unique(bad.begin(), bad.end()), bad.end());
}

void Importer::CollectReturns(ImportResult* result) const {
  for (const std::string& t : options_.return_outputs) {
    const TensorName name = ParseTensorName(t);
    if (const auto* mapped = FindMapped(name)) {
      result->outputs.push_back(mapped->second);
      continue;
    }
    result->outputs.push_back(Output(made_[by_name_.at(ToAbsl(name.node))], name.index));
  }
  for (const std::string& name : options_.return_nodes) {
    result->nodes.push_back(made_[by_name_.at(name)]);
  }
  for (const auto& [key, output] : options_.input_map) {
    if (!used_mappings_.contains(key)) result->unused_input_map_keys.push_back(key);
  }
  result->added = added_;
}

absl::Status Importer::Check() {
  SLUICE_RETURN_IF_ERROR(CheckVersions());
  SLUICE_RETURN_IF_ERROR(IndexNodes());
  sources_.resize(def_.node_size());
  consumers_.resize(def_.node_size());
  made_.resize(def_.node_size());
  for (int n = 0; n < def_.node_size(); ++n) {
    SLUICE_RETURN_IF_ERROR(ReadSources(n));
    SLUICE_RETURN_IF_ERROR(CheckColocation(n));
  }
  SLUICE_RETURN_IF_ERROR(CheckRequest());
  return CheckLibrary();
}

absl::StatusOr<ImportResult> Importer::Run() {
  SLUICE_RETURN_IF_ERROR(Check());
  const GraphVersions before = graph_.versions();
  MergeVersions();  // shape functions depend on them
  absl::Status status = AddNodes();
  if (status.ok()) status = AddBackEdges();
  if (status.ok()) status = CheckReturnOutputs();
  if (!status.ok()) {
    for (auto it = added_.rbegin(); it != added_.rend(); ++it) graph_.Remove(*it);
    graph_.versions() = before;
    return status;
  }
  if (functions_) graph_.function_library() = functions_->Serialize();
  ImportResult result;
  CollectReturns(&result);
  return result;
}

}  // namespace

absl::StatusOr<ImportResult> ImportGraphDef(const pb::GraphDef& def, Graph& graph,
                                            const ImportOptions& options) {
  return Importer(def, graph, options).Run();
}

absl::StatusOr<ImportResult> ImportGraphDef(std::string_view bytes, Graph& graph,
                                            const ImportOptions& options) {
  pb::GraphDef def;
  SLUICE_RETURN_IF_ERROR(ParseBinaryOrText(bytes, "GraphDef", &def));
  return ImportGraphDef(def, graph, options);
}

}  // namespace sluice
