#include "training/checkpoint/saver.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "absl/strings/str_format.h"
#include "executor/files/files.h"
#include "graph/format/meta_graph.h"
#include "graph/format/proto/meta_graph.pb.h"
#include "graph/format/proto/saver.pb.h"
#include "graph/ir/variable_slice.h"
#include "graph/status.h"
#include "ops/checkpoint/bundle.h"
#include "ops/embedding/embedding_table.h"
#include "training/checkpoint/checkpoint_reader.h"

namespace sluice {
namespace {

double SecondsSince1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

SavedVariable Describe(const Graph& graph, const Variable& v, std::string_view name) {
  SavedVariable saved = {std::string(name), "", v};
  if (const std::optional<VariableSlice> slice = FindVariableSlice(graph, v.handle().name())) {
    saved.shape_and_slice = slice->ShapeAndSlice();
    if (name.empty()) saved.name = slice->full_name;
  }
  if (saved.name.empty()) saved.name = v.name();
  return saved;
}

// Returns the parts of embedding tables that are among the variables of the options.
std::vector<Variable> SavedTables(const Graph& graph, const SaverOptions& options) {
  if (options.variables.empty() && options.names.empty()) return Variables(graph, kEmbeddingTables);
  std::vector<Variable> tables;
  for (const Variable& v : options.variables) {
    if (IsEmbeddingTable(v)) tables.push_back(v);
  }
  return tables;
}

}  // namespace

absl::StatusOr<std::vector<SavedVariable>> SavedVariables(const Graph& graph,
                                                          const SaverOptions& options) {
  std::vector<SavedVariable> saved;
  for (const auto& [name, variable] : options.names) {
    saved.push_back(Describe(graph, variable, name));
  }
  std::vector<Variable> variables = options.variables;
  if (variables.empty() && saved.empty()) {
    variables = GlobalVariables(graph);
    for (const Variable& v : Variables(graph, "saveable_objects")) variables.push_back(v);
  }
  for (const Variable& v : variables) {
    SLUICE_INVALID_IF(!v, "saver: one of the variables is invalid");
    if (IsEmbeddingTable(v)) continue;
    saved.push_back(Describe(graph, v, ""));
  }
  std::stable_sort(saved.begin(), saved.end(),
                   [](const SavedVariable& a, const SavedVariable& b) { return a.name < b.name; });
  for (size_t i = 1; i < saved.size(); ++i) {
    const SavedVariable& a = saved[i - 1];
    const SavedVariable& b = saved[i];
    SLUICE_INVALID_IF(a.name == b.name && (a.shape_and_slice.empty() || b.shape_and_slice.empty()),
                      "At least two variables have the same name: ", a.name, " ('",
                      a.variable.name(), "' and '", b.variable.name(), "')");
  }
  return saved;
}

Saver::Saver(SaverOptions options)
    : options_(std::move(options)), def_(std::make_unique<pb::SaverDef>()) {
  if (!options_.clock) options_.clock = SecondsSince1970;
}

Saver::Saver(Graph& graph, SaverOptions options, At at) : Saver(std::move(options)) {
  Build(graph, at).IgnoreError();
}

Saver::~Saver() = default;

absl::Status Saver::Build(Graph& graph, At at) {
  if (graph_ != nullptr) return built_;
  graph_ = &graph;
  built_ = [&]() -> absl::Status {
    SLUICE_ASSIGN_OR_RETURN(saved_, SavedVariables(graph, options_));
    const std::vector<Variable> tables = SavedTables(graph, options_);
    is_empty_ = saved_.empty() && tables.empty();
    if (is_empty_) {
      return options_.allow_empty ? absl::OkStatus() : InvalidArgument("No variables to save");
    }
    const SaverGraphOptions nodes = {.name = options_.name,
                                     .sharded = options_.sharded,
                                     .reshape = options_.reshape,
                                     .tables = tables,
                                     .write_version = options_.write_version,
                                     .filename = options_.filename};
    SLUICE_ASSIGN_OR_RETURN(*def_, BuildSaverGraph(graph, saved_, nodes, at));
    def_->set_max_to_keep(options_.max_to_keep);
    def_->set_keep_checkpoint_every_n_hours(
        static_cast<float>(options_.keep_checkpoint_every_n_hours));
    return Resolve(graph);
  }();
  return built_;
}

absl::Status Saver::Resolve(Graph& graph) {
  SLUICE_ASSIGN_OR_RETURN(filename_, graph.FindOutput(def_->filename_tensor_name()));
  SLUICE_ASSIGN_OR_RETURN(save_, graph.FindOutput(def_->save_tensor_name()));
  restore_ = Operation(graph.Find(def_->restore_op_name()));
  if (!restore_) {
    return absl::NotFoundError(StrCat("no node '", def_->restore_op_name(), "' in the graph"));
  }
  ScopedLock lock(&mutex_);
  next_kept_time_ = options_.clock() + 3600.0 * options_.keep_checkpoint_every_n_hours;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Saver>> Saver::FromDef(const pb::SaverDef& def, Graph& graph,
                                                      std::string_view import_scope) {
  SaverOptions options;
  options.sharded = def.sharded();
  options.max_to_keep = def.max_to_keep();
  options.keep_checkpoint_every_n_hours = def.keep_checkpoint_every_n_hours();
  options.write_version =
      def.version() == pb::SaverDef::V2 ? CheckpointFormat::kV2 : CheckpointFormat::kV1;
  auto saver = std::make_unique<Saver>(std::move(options));
  saver->graph_ = &graph;
  *saver->def_ = def;
  if (!import_scope.empty()) {
    saver->def_->set_filename_tensor_name(StrCat(import_scope, "/", def.filename_tensor_name()));
    saver->def_->set_save_tensor_name(StrCat(import_scope, "/", def.save_tensor_name()));
    saver->def_->set_restore_op_name(StrCat(import_scope, "/", def.restore_op_name()));
  }
  if (absl::Status resolved = saver->Resolve(graph); !resolved.ok()) {
    return InvalidArgument("SaverDef: ", ToStd(resolved.message()));
  }
  saver->built_ = absl::OkStatus();
  return saver;
}

absl::StatusOr<std::string> Saver::Write(Session& session, const std::string& path) {
  absl::StatusOr<Tensors> written = session.Run({{filename_, Tensor::Scalar(path)}}, {save_}, {});
  if (written.ok()) {
    const Tensor& name = (*written)[0];  // of any type, if a file named the tensor
    SLUICE_INVALID_IF(name.dtype() != DT_STRING || name.num_elements() != 1,
                      "saver: expected one string from '", save_.name(), "', got ",
                      DataTypeName(name.dtype()), name.shape().ToString());
    return name.scalar<std::string>();
  }
  const absl::Status& status = written.status();
  const std::string folder = DirectoryOf(path);
  SLUICE_INVALID_IF(
      (absl::IsNotFound(status) || absl::IsFailedPrecondition(status)) && !IsDirectory(folder),
      "Parent directory of ", path, " doesn't exist, can't save. (", ToStd(status.message()), ")");
  return status;
}

absl::Status Saver::Verify(const std::string& path) const {
  const absl::StatusOr<std::unique_ptr<CheckpointReader>> reader = CheckpointReader::Open(path);
  if (!reader.ok()) {
    return Annotate(reader.status(), "the checkpoint cannot be read back after it was saved: ");
  }
  for (const SavedTensor& tensor : (*reader)->tensors()) {
    SLUICE_RETURN_IF_ERROR((*reader)->Read(tensor.name).status());
  }
  for (const SavedVariable& saved : saved_) {
    if ((*reader)->Find(saved.name) == nullptr) {
      return absl::DataLossError(StrCat("checkpoint '", path, "': variable '", saved.name,
                                        "' was saved and is not there"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Saver::Save(Session& session, const std::string& path,
                                        const SaveOptions& options) {
  SLUICE_RETURN_IF_ERROR(built_);
  SLUICE_INVALID_IF(options.latest_filename.find('/') != std::string::npos,
                    "'latest_filename' must not contain path components");
  std::string checkpoint = path;
  if (options.global_step) {
    checkpoint = options_.pad_step_number ? absl::StrFormat("%s-%08d", path, *options.global_step)
                                          : StrCat(path, "-", *options.global_step);
  } else if (BaseNameOf(path) == options.latest_filename) {
    return InvalidArgument("'latest_filename' collides with 'save_path': '",
                           options.latest_filename, "' and '", path, "'");
  }
  const std::string meta_graph = MetaGraphName(checkpoint, options.meta_graph_suffix);
  std::string saved;
  if (!is_empty_) {
    SLUICE_ASSIGN_OR_RETURN(saved, Write(session, checkpoint));
    if (options_.verify) SLUICE_RETURN_IF_ERROR(Verify(saved));
  }
  // Writes the meta graph before the state file, which must list only complete checkpoints.
  if (options.write_meta_graph) {
    SLUICE_ASSIGN_OR_RETURN(const pb::MetaGraphDef meta,
                            ExportMetaGraph(options.strip_default_attrs));
    std::string bytes;
    SLUICE_INVALID_IF(!meta.SerializeToString(&bytes), "'", meta_graph,
                      "': a meta graph has at most 2147483647 bytes, got ", meta.ByteSizeLong());
    SLUICE_RETURN_IF_ERROR(WriteFileAtomically(meta_graph, bytes));
  }
  if (!is_empty_ && options.write_state) SLUICE_RETURN_IF_ERROR(Record(saved, options));
  return saved;
}

absl::Status Saver::Record(const std::string& path, const SaveOptions& options) {
  ScopedLock lock(&mutex_);
  CheckpointState state;
  state.latest = path;
  if (options_.max_to_keep > 0) {
    std::erase_if(kept_, [&](const Kept& k) { return k.path == path; });
    kept_.push_back({path, options_.clock()});
    while (kept_.size() > static_cast<size_t>(options_.max_to_keep)) {
      to_delete_.push_back(kept_.front());
      kept_.erase(kept_.begin());
    }
    for (const Kept& k : kept_) state.all.push_back(k.path);
  }
  const size_t slash = path.rfind('/');
  const std::string folder = slash == path.npos ? "" : path.substr(0, std::max<size_t>(slash, 1));
  SLUICE_RETURN_IF_ERROR(
      WriteCheckpointState(folder, state,
                           {.latest_filename = options.latest_filename,
                            .save_relative_paths = options_.save_relative_paths}));
  // Deletes files last, because the previous state file lists them.
  return DeleteOld(options.meta_graph_suffix);
}

absl::Status Saver::DeleteOld(const std::string& meta_graph_suffix) {
  while (!to_delete_.empty()) {
    const Kept old = to_delete_.front();
    to_delete_.erase(to_delete_.begin());
    if (old.time > next_kept_time_) {
      next_kept_time_ += 3600.0 * options_.keep_checkpoint_every_n_hours;
      continue;
    }
    SLUICE_RETURN_IF_ERROR(RemoveCheckpoint(old.path, meta_graph_suffix));
  }
  return absl::OkStatus();
}

absl::StatusOr<pb::MetaGraphDef> Saver::ExportMetaGraph(bool strip_default_attrs) const {
  SLUICE_RETURN_IF_ERROR(built_);
  pb::MetaGraphDef rest;
  if (!is_empty_) *rest.mutable_saver_def() = *def_;
  return ExportMetaGraphDef(*graph_, {.strip_default_attrs = strip_default_attrs}, rest);
}

absl::Status Saver::Restore(Session& session, const std::string& path) {
  SLUICE_RETURN_IF_ERROR(built_);
  if (is_empty_) return absl::OkStatus();
  SLUICE_INVALID_IF(!CheckpointExists(path),
                    "The passed save_path is not a valid checkpoint: ", path);
  absl::Status restored = session.Run({{filename_, Tensor::Scalar(path)}}, {}, {restore_}).status();
  if (!absl::IsNotFound(restored) && !absl::IsInvalidArgument(restored)) return restored;
  const std::string mismatches = Mismatches(path);
  if (mismatches.empty()) return restored;
  return Annotate(restored, StrCat("Restoring from checkpoint '", path, "': ", mismatches,
                                   ". The first error: "));
}

std::string Saver::Mismatches(const std::string& path) const {
  const absl::StatusOr<std::unique_ptr<BundleReader>> reader = BundleReader::Open(path);
  if (!reader.ok()) return "";
  std::string all;
  std::set<std::string> told;
  for (const SavedVariable& saved : saved_) {
    if (!told.insert(saved.name).second) continue;
    const absl::StatusOr<BundleReader::Entry> entry = (*reader)->Find(saved.name);
    const Variable& v = saved.variable;
    const std::string wanted = StrCat(DataTypeName(v.dtype()), v.shape().ToString());
    const char* between = all.empty() ? "" : "; ";
    if (!entry.ok()) {
      StrAppend(&all, between, "variable '", v.name(), "': expected ", wanted, " under the key '",
                saved.name, "', got no such key");
    } else if (entry->dtype != v.dtype() ||
               (saved.shape_and_slice.empty() && !options_.reshape &&
                !v.shape().IsCompatibleWith(PartialShape(entry->shape)))) {
      StrAppend(&all, between, "variable '", v.name(), "': expected ", wanted, ", got ",
                DataTypeName(entry->dtype), entry->shape.ToString(), " under the key '", saved.name,
                "'");
    }
  }
  return all;
}

absl::StatusOr<LatestCheckpoints> Saver::FindCheckpoints(const std::string& folder) {
  LatestCheckpoints found;
  const absl::StatusOr<std::string> latest = LatestCheckpoint(folder);
  if (absl::IsNotFound(latest.status())) return found;  // there is no checkpoint yet
  if (!latest.ok()) return latest.status();
  SLUICE_ASSIGN_OR_RETURN(const CheckpointState state, ReadCheckpointState(folder));
  found.latest = *latest;
  found.all = state.all;
  return found;
}

std::vector<std::string> Saver::last_checkpoints() const {
  ScopedLock lock(&mutex_);
  std::vector<std::string> paths;
  for (const Kept& k : kept_) paths.push_back(k.path);
  return paths;
}

void Saver::RecoverLastCheckpoints(const std::vector<std::string>& paths) {
  ScopedLock lock(&mutex_);
  kept_.clear();
  for (const std::string& path : paths) {
    if (const absl::StatusOr<double> time = CheckpointTime(path); time.ok()) {
      kept_.push_back({path, *time});
    }
  }
}

}  // namespace sluice
