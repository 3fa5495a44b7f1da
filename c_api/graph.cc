#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "c_api/handles.h"
#include "c_api/optimizers.h"
#include "executor/files/files.h"
#include "executor/wait/out_of_memory.h"
#include "graph/format/meta_graph.h"
#include "graph/status.h"
#include "ops/state/variable.h"

namespace sluice::c_api {
namespace {

using Loaded = std::shared_ptr<LoadedGraph>;

absl::Status LoadSaved(const std::string& folder, const std::vector<std::string>& tags,
                       sluice_graph** graph) {
  const Loaded loaded = std::make_shared<LoadedGraph>();
  SLUICE_ASSIGN_OR_RETURN(loaded->saved, LoadSavedModel(folder, tags, loaded->graph));
  loaded->meta = loaded->saved->meta_graph();
  *graph = new sluice_graph{loaded};
  return absl::OkStatus();
}

absl::Status Parse(std::string_view bytes, sluice_graph** graph) {
  const Loaded loaded = std::make_shared<LoadedGraph>();
  SLUICE_ASSIGN_OR_RETURN(const pb::MetaGraphDef meta, ReadMetaGraphOrGraph(bytes));
  SLUICE_ASSIGN_OR_RETURN(ImportedMetaGraph imported, ImportMetaGraphDef(meta, loaded->graph));
  loaded->meta = std::move(imported.rest);
  *graph = new sluice_graph{loaded};
  return absl::OkStatus();
}

absl::Status Load(const std::string& path, sluice_graph** graph) {
  if (IsDirectory(path)) return LoadSaved(path, {std::string(kServingTag)}, graph);
  SLUICE_ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(path));
  return Annotate(Parse(bytes, graph), StrCat("'", path, "': "));
}

template <typename Map>
std::string Keys(const Map& map) {
  std::set<std::string> keys;
  for (const auto& [key, value] : map) keys.insert(key);
  return absl::StrJoin(keys, ", ");
}

using TensorInfos = google::protobuf::Map<std::string, pb::TensorInfo>;

absl::Status FindInSignature(LoadedGraph& loaded, const std::string& name, const std::string& key,
                             const TensorInfos& (pb::SignatureDef::*tensors)() const,
                             const char** tensor) {
  const auto& signatures = loaded.meta.signature_def();
  const auto signature = signatures.find(name);
  if (signature == signatures.end()) {
    return absl::NotFoundError(
        StrCat("no signature '", name, "'; the graph has: ", Keys(signatures)));
  }
  const TensorInfos& infos = (signature->second.*tensors)();
  const auto info = infos.find(key);
  if (info == infos.end() || info->second.name().empty()) {
    return absl::NotFoundError(
        StrCat("signature '", name, "' has no tensor '", key, "'; it has: ", Keys(infos)));
  }
  *tensor = loaded.Keep(info->second.name());
  return absl::OkStatus();
}

absl::Status Minimize(LoadedGraph& loaded, const std::string& loss, const std::string& optimizer,
                      absl::Span<const sluice_hyper_parameter> parameters, const char** train) {
  SLUICE_ASSIGN_OR_RETURN(const Output minimized, loaded.graph.FindOutput(loss));
  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<Optimizer> made,
                          MakeOptimizer(optimizer, parameters));
  const std::vector<Variable> steps = Variables(loaded.graph, kGlobalStep);
  const Operation op =
      made->Minimize(minimized, {.global_step = steps.empty() ? nullptr : &steps[0]});
  SLUICE_RETURN_IF_ERROR(loaded.graph.status());
  {
    ScopedLock lock(&loaded.mutex);
    loaded.saver = nullptr;  // the next one also saves the optimizer's variables
  }
  *train = loaded.Keep(op.name());
  return absl::OkStatus();
}

absl::Status Initializer(LoadedGraph& loaded, const char** init) {
  const Operation op = InitializeVariables(loaded.graph);
  SLUICE_RETURN_IF_ERROR(loaded.graph.status());
  *init = loaded.Keep(op.name());
  return absl::OkStatus();
}

}  // namespace
}  // namespace sluice::c_api

sluice_error* sluice_graph_load(const char* path, sluice_graph** graph) noexcept {
  using namespace sluice::c_api;
  return ErrorOf(sluice::OrOutOfMemory([&] { return Load(path, graph); }));
}

sluice_error* sluice_graph_load_saved_model(const char* folder, const char* const* tags,
                                            size_t num_tags, sluice_graph** graph) noexcept {
  using namespace sluice::c_api;
  const std::vector<std::string> names(tags, tags + num_tags);
  return ErrorOf(sluice::OrOutOfMemory([&] { return LoadSaved(folder, names, graph); }));
}

sluice_error* sluice_graph_parse(const void* bytes, size_t size, sluice_graph** graph) noexcept {
  using namespace sluice::c_api;
  const std::string_view text(static_cast<const char*>(bytes), size);
  return ErrorOf(sluice::OrOutOfMemory([&] { return Parse(text, graph); }));
}

void sluice_graph_free(sluice_graph* graph) noexcept { delete graph; }

sluice_error* sluice_graph_signature_input(sluice_graph* graph, const char* signature,
                                           const char* key, const char** tensor) noexcept {
  return sluice::c_api::ErrorOf(sluice::c_api::FindInSignature(
      *graph->loaded, signature, key, &sluice::pb::SignatureDef::inputs, tensor));
}

sluice_error* sluice_graph_signature_output(sluice_graph* graph, const char* signature,
                                            const char* key, const char** tensor) noexcept {
  return sluice::c_api::ErrorOf(sluice::c_api::FindInSignature(
      *graph->loaded, signature, key, &sluice::pb::SignatureDef::outputs, tensor));
}

sluice_error* sluice_graph_minimize(sluice_graph* graph, const char* loss, const char* optimizer,
                                    const sluice_hyper_parameter* parameters, size_t num_parameters,
                                    const char** train) noexcept {
  return sluice::c_api::ErrorOf(sluice::c_api::Minimize(
      *graph->loaded, loss, optimizer, absl::MakeConstSpan(parameters, num_parameters), train));
}

sluice_error* sluice_graph_initializer(sluice_graph* graph, const char** init) noexcept {
  return sluice::c_api::ErrorOf(sluice::c_api::Initializer(*graph->loaded, init));
}
