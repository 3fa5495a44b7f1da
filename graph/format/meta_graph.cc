#include "graph/format/meta_graph.h"

#include <set>

#include "graph/format/attr_value.h"
#include "graph/format/contexts.h"
#include "graph/format/proto/control_flow.pb.h"
#include "graph/format/proto/queue_runner.pb.h"
#include "graph/format/proto/saver.pb.h"
#include "graph/format/proto/variable.pb.h"
#include "graph/format/text.h"
#include "graph/format/variable_def.h"
#include "graph/status.h"

namespace sluice {
namespace {

std::string WithPrefix(const std::string& name, std::string_view prefix) {
  if (prefix.empty()) return name;
  if (name.starts_with('^')) return StrCat("^", prefix, "/", name.substr(1));
  return StrCat(prefix, "/", name);
}

// Fields 1 and 2 are messages in both GraphDef and MetaGraphDef, so the bytes of one may parse as
// the other. All nodes have an op only if the bytes were parsed as the right one.
bool HasNodes(const pb::GraphDef& def) {
  for (const auto& node : def.node()) {
    if (node.op().empty()) return false;
  }
  return true;
}

absl::Status ReadGraph(std::string_view bytes, pb::MetaGraphDef* meta) {
  pb::GraphDef def;
  SLUICE_RETURN_IF_ERROR(ParseBinaryOrText(bytes, "GraphDef", &def));
  SLUICE_INVALID_IF(!HasNodes(def), "GraphDef: a node has no op");
  meta->Clear();
  *meta->mutable_graph_def() = std::move(def);
  return absl::OkStatus();
}

bool HasUnknownFields(const google::protobuf::Message& message) {
  return message.GetReflection()->GetUnknownFields(message).field_count() > 0;
}

// Links the messages that collections hold as Any, so that the text format can read them.
bool HasCollectionTypes() {
  for (const google::protobuf::Message* m :
       {static_cast<const google::protobuf::Message*>(&pb::QueueRunnerDef::default_instance()),
        static_cast<const google::protobuf::Message*>(&pb::VariableDef::default_instance()),
        static_cast<const google::protobuf::Message*>(&pb::SaveSliceInfoDef::default_instance()),
        static_cast<const google::protobuf::Message*>(&pb::CondContextDef::default_instance()),
        static_cast<const google::protobuf::Message*>(&pb::WhileContextDef::default_instance())}) {
    if (m->GetDescriptor() == nullptr) return false;
  }
  return true;
}

// Collections with serialized messages as entries (training/loop/queue_runner.h,
// training/session/scaffold.h).
constexpr std::string_view kQueueRunners = "queue_runners";
constexpr std::string_view kSavers = "savers";
bool HoldsMessages(std::string_view key) { return key == kQueueRunners || key == kSavers; }

void AddPrefix(std::string_view prefix, pb::QueueRunnerDef* def) {
  def->set_queue_name(WithPrefix(def->queue_name(), prefix));
  for (std::string& name : *def->mutable_enqueue_op_name()) name = WithPrefix(name, prefix);
  for (std::string* name : {def->mutable_close_op_name(), def->mutable_cancel_op_name()}) {
    if (!name->empty()) *name = WithPrefix(*name, prefix);
  }
}

void AddPrefix(std::string_view prefix, pb::SaverDef* def) {
  for (std::string* name : {def->mutable_filename_tensor_name(), def->mutable_save_tensor_name(),
                            def->mutable_restore_op_name()}) {
    *name = WithPrefix(*name, prefix);
  }
}

template <typename Message>
absl::Status ImportMessages(std::string_view key, const pb::CollectionDef& collection,
                            std::string_view prefix, Graph& graph) {
  for (const std::string& bytes : collection.bytes_list().value()) {
    Message def;
    SLUICE_INVALID_IF(!def.ParseFromString(bytes), "collection '", key, "': an entry is no ",
                      def.GetDescriptor()->name());
    AddPrefix(prefix, &def);
    graph.AddToCollection(key, def.SerializeAsString());
  }
  return absl::OkStatus();
}

void DescribeOps(const Graph& graph, pb::MetaGraphDef::MetaInfoDef* info) {
  std::set<std::string_view> seen;
  for (const Node* node : graph.nodes()) seen.insert(node->op());
  info->clear_stripped_op_list();
  for (std::string_view op : seen) {
    if (const OpDef* def = OpRegistry::Global().Find(op)) {
      pb::OpDef* written = info->mutable_stripped_op_list()->add_op();
      OpDefToProto(*def, written);
      written->clear_summary();
    }
  }
}

}  // namespace

absl::StatusOr<ImportedMetaGraph> ImportMetaGraphDef(const pb::MetaGraphDef& meta, Graph& graph,
                                                     const ImportOptions& options) {
  ImportedMetaGraph imported;
  SLUICE_ASSIGN_OR_RETURN(imported.graph, ImportGraphDef(meta.graph_def(), graph, options));
  imported.rest = meta;
  imported.rest.clear_graph_def();
  SLUICE_RETURN_IF_ERROR(ImportVariables(options.prefix, graph, &imported.rest));
  for (const auto& [key, collection] : meta.collection_def()) {
    if (HoldsMessages(key) && collection.has_bytes_list()) {
      SLUICE_RETURN_IF_ERROR(
          key == kSavers
              ? ImportMessages<pb::SaverDef>(key, collection, options.prefix, graph)
              : ImportMessages<pb::QueueRunnerDef>(key, collection, options.prefix, graph));
      imported.rest.mutable_collection_def()->erase(key);
    }
    if (!collection.has_node_list()) continue;
    for (const std::string& name : collection.node_list().value()) {
      graph.AddToCollection(key, WithPrefix(name, options.prefix));
    }
    imported.rest.mutable_collection_def()->erase(key);
  }
  SLUICE_RETURN_IF_ERROR(ImportContexts(meta, options.prefix, graph));
  imported.rest.mutable_collection_def()->erase(kCondContexts);
  imported.rest.mutable_collection_def()->erase(kWhileContexts);
  return imported;
}

namespace {

// Whether the bytes, parsed as `meta`, can be a MetaGraphDef. A GraphDef may parse as one.
bool IsPlausible(const pb::MetaGraphDef& meta, std::string_view bytes) {
  return !HasUnknownFields(meta) && !HasUnknownFields(meta.graph_def()) &&
         (meta.has_graph_def() || meta.collection_def_size() > 0 || bytes.empty()) &&
         HasNodes(meta.graph_def());
}

}  // namespace

absl::StatusOr<pb::MetaGraphDef> ReadMetaGraphOrGraph(std::string_view bytes) {
  if (!HasCollectionTypes()) return absl::InternalError("messages of collections are not linked");
  pb::MetaGraphDef meta;
  const absl::Status as_meta = ParseBinaryOrText(bytes, "MetaGraphDef", &meta);
  const bool plausible = as_meta.ok() && IsPlausible(meta, bytes);
  if (plausible && meta.graph_def().node_size() > 0) return meta;
  pb::MetaGraphDef as_graph;
  const absl::Status graph_status = ReadGraph(bytes, &as_graph);
  if (graph_status.ok()) return as_graph;
  if (plausible) return meta;
  return InvalidArgument("no graph: as MetaGraphDef ",
                         as_meta.ok() ? "it has no nodes" : ToStd(as_meta.message()),
                         "; as GraphDef ", ToStd(graph_status.message()));
}

absl::StatusOr<pb::MetaGraphDef> ExportMetaGraphDef(const Graph& graph,
                                                    const ExportOptions& options,
                                                    const pb::MetaGraphDef& rest) {
  pb::MetaGraphDef meta = rest;
  SLUICE_ASSIGN_OR_RETURN(*meta.mutable_graph_def(), ExportGraphDef(graph, options));
  auto* info = meta.mutable_meta_info_def();
  DescribeOps(graph, info);
  info->set_tensorflow_version("2.21.0");
  info->set_stripped_default_attrs(options.strip_default_attrs);
  for (const auto& [key, names] : graph.collections()) {
    // In TensorFlow, keys that begin with "__" are private to the program.
    if (rest.collection_def().contains(key) || key.starts_with("__")) continue;
    pb::CollectionDef& collection = (*meta.mutable_collection_def())[key];
    if (ExportVariables(graph, key, &collection)) continue;
    for (const std::string& name : names) {
      if (HoldsMessages(key)) {
        collection.mutable_bytes_list()->add_value(name);
      } else {
        collection.mutable_node_list()->add_value(name);
      }
    }
  }
  ExportContexts(graph, &meta);
  return meta;
}

}  // namespace sluice
