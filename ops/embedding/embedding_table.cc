#include "ops/embedding/embedding_table.h"

#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/hash.h"
#include "graph/status.h"
#include "graph/strings.h"

namespace sluice {
namespace {

std::string WithoutSlash(const std::string& prefix) { return prefix.substr(0, prefix.size() - 1); }

absl::Status CheckArguments(std::string_view name, int64_t dim,
                            const EmbeddingTableOptions& options) {
  SLUICE_INVALID_IF(dim < 1, "embedding table '", name, "': expected rows of at least 1 element, ",
                    "got ", dim);
  SLUICE_INVALID_IF(options.num_shards < 1, "embedding table '", name,
                    "': expected at least 1 shard, got ", options.num_shards);
  const EvictionRule& rule = options.eviction;
  SLUICE_INVALID_IF(rule.idle_steps < 0 || rule.capacity < 0, "embedding table '", name,
                    "': expected idle_steps and capacity of at least 0, got ", rule.idle_steps,
                    " and ", rule.capacity);
  SLUICE_INVALID_IF(!(rule.idle_seconds >= 0) || !(rule.min_norm >= 0) || rule.min_norm_steps < 1,
                    "embedding table '", name,
                    "': expected idle_seconds and min_norm of at least 0 and min_norm_steps of at "
                    "least 1, got ",
                    rule.idle_seconds, ", ", rule.min_norm, " and ", rule.min_norm_steps);
  return absl::OkStatus();
}

std::string InitializerOf(const InitialRows& rows) {
  switch (rows.kind) {
    case InitialRows::Kind::kConstant:
      return "constant";
    case InitialRows::Kind::kUniform:
      return "uniform";
    case InitialRows::Kind::kNormal:
      return "normal";
    case InitialRows::Kind::kTruncatedNormal:
      return "truncated_normal";
  }
  return "";
}

std::vector<float> InitializerValuesOf(const InitialRows& rows) {
  if (rows.kind == InitialRows::Kind::kConstant) return {rows.first};
  return {rows.first, rows.second};
}

// Registers the handle as a variable, so that optimizers and collections can name it.
Variable AsVariable(Node* handle, bool trainable) {
  Graph& graph = *handle->graph();
  const std::string key = Output(handle).name();
  graph.variables()[key] = {.initializer = key,
                            .snapshot = key,
                            .initial_value = key,
                            .trainable = trainable,
                            .is_resource = true};
  graph.AddToCollection(kEmbeddingTables, key);
  return Variable::Find(graph, key).value_or(Variable());
}

}  // namespace

EmbeddingTable::EmbeddingTable(Graph& graph, std::string_view name, int64_t dim,
                               const EmbeddingTableOptions& options, At at)
    : dim_(dim) {
  if (const absl::Status status = CheckArguments(name, dim, options); !status.ok()) {
    graph.SetError(status, at);
    return;
  }
  InitScope init(graph);
  NameScope scope(graph, name);
  name_ = WithoutSlash(scope.prefix());
  // The same for all parts: the part of a key must not change its row.
  const int64_t seed = options.seed.value_or(static_cast<int64_t>(Hash64(name_)));
  const int64_t capacity =
      (options.eviction.capacity + options.num_shards - 1) / options.num_shards;
  for (int i = 0; i < options.num_shards; ++i) {
    const std::string shard = options.num_shards == 1 ? name_ : StrCat(name_, "/part_", i);
    Node* handle = NodeBuilder(&graph, std::string(kEmbeddingTableOp), at)
                       .Name(shard + "/")
                       .Attr("shared_name", shard)
                       .Attr("dtype", options.dtype)
                       .Attr("shape", PartialShape({-1, dim}))
                       .Attr("initializer", InitializerOf(options.initial_rows))
                       .Attr("initializer_values", InitializerValuesOf(options.initial_rows))
                       .Attr("seed", seed)
                       .Attr("admit_after", options.admission.after_updates)
                       .Attr("admit_filter", options.admission.filter_counters)
                       .Attr("admit_probability", options.admission.probability)
                       .Attr("evict_idle_steps", options.eviction.idle_steps)
                       .Attr("evict_idle_seconds", options.eviction.idle_seconds)
                       .Attr("evict_min_norm", options.eviction.min_norm)
                       .Attr("evict_min_norm_steps", options.eviction.min_norm_steps)
                       .Attr("capacity", capacity)
                       .Attr("evict_least_updated", options.eviction.least_updated)
                       .Attr("table_name", name_)
                       .Attr("shard", int64_t{i})
                       .Attr("num_shards", int64_t{options.num_shards})
                       .Finish();
    if (!graph.status().ok()) {
      shards_.clear();
      return;
    }
    shards_.push_back(AsVariable(handle, options.trainable));
  }
}

bool IsEmbeddingTable(const Variable& variable) {
  return variable && variable.op().node->op() == kEmbeddingTableOp;
}

Output GatherRows(const Variable& shard, Output keys, std::string_view name, At at) {
  return Output(NodeBuilder(&shard.graph(), "EmbeddingTableGather", at)
                    .Name(name.empty() ? "Gather" : name)
                    .Input(shard.handle())
                    .Input(keys)
                    .Attr("T", shard.dtype())
                    .Finish());
}

bool HasDistinctKeys(Output keys) {
  return keys && keys.node->op() == "EmbeddingTableLookupAllGrad";
}

absl::Status SetTableSlots(const Variable& shard, std::string_view optimizer,
                           const std::vector<float>& slot_values) {
  Node* node = shard.op().node;
  const auto has = node->AttrOr<std::string>("optimizer", "");
  if (has.empty()) {
    node->SetAttr("optimizer", std::string(optimizer));
    node->SetAttr("slot_values", slot_values);
    return absl::OkStatus();
  }
  const auto* values = node->FindAttr<std::vector<float>>("slot_values");
  if (has == optimizer && values != nullptr && *values == slot_values) return absl::OkStatus();
  return absl::FailedPreconditionError(
      StrCat("embedding table '", shard.name(), "': expected one optimizer, ", has, ", got ",
             optimizer, " too, or with other initial values of slots"));
}

}  // namespace sluice
