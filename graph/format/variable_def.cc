#include "graph/format/variable_def.h"

#include <set>

#include "graph/format/proto/variable.pb.h"
#include "graph/ir/variable_slice.h"
#include "graph/status.h"

namespace sluice {
namespace {

std::string PrefixedUnlessEmpty(const std::string& name, std::string_view prefix) {
  return prefix.empty() || name.empty() ? name : StrCat(prefix, "/", name);
}

// The keys that TensorFlow registers as lists of variables.
bool IsVariableCollection(std::string_view key) {
  static const auto* keys = new std::set<std::string_view>{
      "variables",   "local_variables",        "model_variables",  "trainable_variables",
      "global_step", "concatenated_variables", "metric_variables", "moving_average_variables"};
  return keys->contains(key);
}

// Parses all entries as VariableDefs. Under a key that TensorFlow does not register for variables,
// only entries that cannot be another message are accepted.
bool ParseAll(std::string_view key, const pb::CollectionDef& collection,
              std::vector<pb::VariableDef>* defs) {
  if (key == "savers") return false;  // a SaverDef also parses as a VariableDef
  for (const std::string& bytes : collection.bytes_list().value()) {
    pb::VariableDef def;
    if (!def.ParseFromString(bytes) || def.variable_name().empty()) return false;
    if (!IsVariableCollection(key) &&
        (def.GetReflection()->GetUnknownFields(def).field_count() > 0 ||
         def.initializer_name().empty() || def.snapshot_name().empty())) {
      return false;
    }
    defs->push_back(std::move(def));
  }
  return !defs->empty();
}

VariableSlice SliceFromProto(const pb::SaveSliceInfoDef& proto, std::string_view prefix) {
  return {PrefixedUnlessEmpty(proto.full_name(), prefix),
          {proto.full_shape().begin(), proto.full_shape().end()},
          {proto.var_offset().begin(), proto.var_offset().end()},
          {proto.var_shape().begin(), proto.var_shape().end()}};
}

absl::Status CheckSlice(const std::string& variable, const VariableSlice& slice) {
  const size_t rank = slice.full_shape.size();
  bool fits = rank > 0 && slice.offset.size() == rank && slice.shape.size() == rank;
  for (size_t d = 0; fits && d < rank; ++d) {
    fits = slice.offset[d] >= 0 && slice.shape[d] >= 0 && slice.offset[d] <= slice.full_shape[d] &&
           slice.shape[d] <= slice.full_shape[d] - slice.offset[d];
  }
  if (fits && slice.full_name.find('\n') == std::string::npos) return absl::OkStatus();
  return InvalidArgument("VariableDef '", variable, "': its slice does not lie within the whole");
}

absl::Status Missing(const std::string& variable, const absl::Status& status) {
  return InvalidArgument("VariableDef '", variable, "': ", ToStd(status.message()));
}

absl::StatusOr<Output> FindTensor(const Graph& graph, const std::string& name) {
  SLUICE_ASSIGN_OR_RETURN(const Output tensor, graph.FindOutput(name));
  SLUICE_INVALID_IF(tensor.node->num_outputs() == 0, "tensor '", name, "': node '",
                    tensor.node->name(), "' has no outputs");
  return tensor;
}

absl::Status AddVariable(const pb::VariableDef& def, std::string_view prefix, Graph& graph,
                         std::string* name) {
  *name = PrefixedUnlessEmpty(def.variable_name(), prefix);
  const absl::StatusOr<Output> handle = FindTensor(graph, *name);
  if (!handle.ok()) return Missing(*name, handle.status());
  *name = handle->name();
  VariableNodes nodes = {.initializer = PrefixedUnlessEmpty(def.initializer_name(), prefix),
                         .snapshot = PrefixedUnlessEmpty(def.snapshot_name(), prefix),
                         .initial_value = PrefixedUnlessEmpty(def.initial_value_name(), prefix),
                         .trainable = def.trainable(),
                         .is_resource = def.is_resource()};
  for (const std::string* node : {&nodes.initializer, &nodes.snapshot, &nodes.initial_value}) {
    if (node->empty()) continue;  // older files lack the initial value
    const bool is_op = node == &nodes.initializer;
    const absl::Status found =
        (is_op ? graph.FindOutput(*node) : FindTensor(graph, *node)).status();
    if (!found.ok()) return Missing(*name, found);
  }
  if (def.has_save_slice_info_def()) {
    const VariableSlice slice = SliceFromProto(def.save_slice_info_def(), prefix);
    SLUICE_RETURN_IF_ERROR(CheckSlice(*name, slice));
    if (FindVariableSlice(graph, *name) != slice) SetVariableSlice(graph, *name, slice);
  }
  graph.variables()[*name] = std::move(nodes);
  return absl::OkStatus();
}

}  // namespace

absl::Status ImportVariables(std::string_view prefix, Graph& graph, pb::MetaGraphDef* meta) {
  std::vector<std::string> taken;
  for (const auto& [key, collection] : meta->collection_def()) {
    std::vector<pb::VariableDef> defs;
    if (!collection.has_bytes_list() || !ParseAll(key, collection, &defs)) continue;
    for (const pb::VariableDef& def : defs) {
      std::string name;
      SLUICE_RETURN_IF_ERROR(AddVariable(def, prefix, graph, &name));
      graph.AddToCollection(key, name);
    }
    taken.push_back(key);
  }
  for (const std::string& key : taken) meta->mutable_collection_def()->erase(key);
  // Files older than the field `trainable` mark trainable variables only by the collection.
  for (const std::string& name : graph.Collection("trainable_variables")) {
    if (const auto v = graph.variables().find(name); v != graph.variables().end()) {
      v->second.trainable = true;
    }
  }
  return absl::OkStatus();
}

bool ExportVariables(const Graph& graph, std::string_view key, pb::CollectionDef* collection) {
  const std::vector<std::string>& names = graph.Collection(key);
  if (names.empty()) return false;
  std::vector<std::string> defs;
  for (const std::string& name : names) {
    const auto nodes = graph.variables().find(name);
    if (nodes == graph.variables().end()) return false;
    pb::VariableDef def;
    def.set_variable_name(name);
    def.set_initializer_name(nodes->second.initializer);
    def.set_snapshot_name(nodes->second.snapshot);
    def.set_initial_value_name(nodes->second.initial_value);
    def.set_trainable(nodes->second.trainable);
    def.set_is_resource(nodes->second.is_resource);
    if (const std::optional<VariableSlice> slice = FindVariableSlice(graph, name)) {
      pb::SaveSliceInfoDef* info = def.mutable_save_slice_info_def();
      info->set_full_name(slice->full_name);
      info->mutable_full_shape()->Add(slice->full_shape.begin(), slice->full_shape.end());
      info->mutable_var_offset()->Add(slice->offset.begin(), slice->offset.end());
      info->mutable_var_shape()->Add(slice->shape.begin(), slice->shape.end());
    }
    defs.push_back(def.SerializeAsString());
  }
  for (std::string& def : defs) collection->mutable_bytes_list()->add_value(std::move(def));
  return true;
}

}  // namespace sluice
