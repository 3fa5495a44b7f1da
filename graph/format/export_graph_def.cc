// Graph -> GraphDef.
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
  return def;
}

}  // namespace sluice
