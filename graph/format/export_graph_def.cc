// Converts a Graph to a GraphDef.
#include <algorithm>
#include <climits>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include "graph/format/attr_value.h"
#include "graph/format/graph_def.h"
#include "graph/status.h"

namespace sluice {
namespace {

bool IsDefault(const Node& node, const std::string& name, const AttrValue& value) {
  if (name.starts_with('_')) return false;
  const AttrDef* def = node.def().FindAttr(name);
  return def != nullptr && def->default_value && AttrEquals(*def->default_value, value);
}

size_t BytesOf(const Tensor& tensor) {
  if (tensor.dtype() != DT_STRING) return tensor.bytes();
  const auto strings = tensor.flat<std::string>();
  return std::accumulate(strings.begin(), strings.end(), size_t{0},
                         [](size_t sum, const std::string& s) { return sum + s.size(); });
}

size_t BytesOfConstants(const Node& node) {
  size_t sum = 0;
  for (const auto& [name, value] : node.attrs()) {
    if (const auto* one = std::get_if<Tensor>(&value)) sum += BytesOf(*one);
    if (const auto* list = std::get_if<std::vector<Tensor>>(&value)) {
      for (const Tensor& t : *list) sum += BytesOf(t);
    }
  }
  return sum;
}

// Called before anything is copied. A protocol buffer has at most INT_MAX bytes; a graph in memory
// has no such limit.
absl::Status CheckConstantsFit(const Graph& graph) {
  size_t sum = 0, most = 0;
  const Node* largest = nullptr;
  for (const Node* node : graph.nodes()) {
    const size_t bytes = BytesOfConstants(*node);
    sum += bytes;
    if (bytes > most) largest = node;
    most = std::max(most, bytes);
  }
  if (sum <= INT_MAX) return absl::OkStatus();
  const std::string where =
      largest->location().empty() ? "" : StrCat(" [built at ", largest->location(), "]");
  return InvalidArgument(largest->Describe(), ": a GraphDef has at most ", INT_MAX,
                         " bytes, got constants of ", sum, ", ", most, " of them here", where);
}

}  // namespace

absl::Status NodeToProto(const Node& node, const ExportOptions& options, pb::NodeDef* proto) {
  proto->Clear();
  proto->set_name(node.name());
  proto->set_op(node.op());
  proto->set_device(node.assigned_device().empty() ? node.device() : node.assigned_device());
  for (const Output& in : node.inputs()) {
    if (!in) return absl::InternalError(StrCat(node.Describe(), ": an input is not connected"));
    proto->add_input(in.index == 0 ? in.node->name() : in.name());
  }
  for (const Node* c : node.control_inputs()) proto->add_input(StrCat("^", c->name()));
  for (const auto& [name, value] : node.attrs()) {
    if (options.strip_default_attrs && IsDefault(node, name, value)) continue;
    SLUICE_RETURN_IF_ERROR(Annotate(AttrToProto(value, &(*proto->mutable_attr())[name]),
                                    StrCat(node.Describe(), ": attr '", name, "': ")));
  }
  return absl::OkStatus();
}

absl::StatusOr<pb::GraphDef> ExportGraphDef(const Graph& graph, const ExportOptions& options) {
  SLUICE_RETURN_IF_ERROR(CheckConstantsFit(graph));
  pb::GraphDef def;
  for (const Node* node : graph.nodes()) {
    SLUICE_RETURN_IF_ERROR(NodeToProto(*node, options, def.add_node()));
  }
  const GraphVersions& versions = graph.versions();
  def.mutable_versions()->set_producer(versions.producer);
  def.mutable_versions()->set_min_consumer(versions.min_consumer);
  for (int v : versions.bad_consumers) def.mutable_versions()->add_bad_consumers(v);
  if (!graph.function_library().empty() &&
      !def.mutable_library()->ParseFromString(graph.function_library())) {
    return absl::DataLossError("the graph's function library is damaged");
  }
  if (const size_t bytes = def.ByteSizeLong(); bytes > INT_MAX) {
    return InvalidArgument("a GraphDef has at most ", INT_MAX, " bytes, got ", bytes, " in ",
                           def.node_size(), " nodes and their functions");
  }
  return def;
}

}  // namespace sluice
