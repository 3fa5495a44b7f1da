#include "training/checkpoint/saved_model.h"

#include <filesystem>
#include <set>

#include "executor/files/files.h"
#include "graph/format/meta_graph.h"
#include "graph/format/proto/meta_graph.pb.h"
#include "graph/format/proto/saved_model.pb.h"
#include "graph/format/tensor_proto.h"
#include "graph/format/text.h"
#include "graph/infer/shape_context.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr int64_t kSchemaVersion = 1;
constexpr const char* kInitOp = "__saved_model_init_op";
constexpr const char* kTrainOp = "__saved_model_train_op";

pb::TensorInfo InfoOf(Output tensor) {
  pb::TensorInfo info;
  info.set_name(tensor.name());
  info.set_dtype(static_cast<pb::DataType>(BaseType(tensor.dtype())));
  ShapeToProto(tensor.shape(), info.mutable_tensor_shape());
  return info;
}

absl::Status AddSignature(const std::string& name, const Signature& signature,
                          pb::MetaGraphDef* meta) {
  SLUICE_INVALID_IF(name == kInitOp || name == kTrainOp, "SignatureDef map key \"", name,
                    "\" is reserved for initialization or training ops. Please use a "
                    "different key.");
  pb::SignatureDef& def = (*meta->mutable_signature_def())[name];
  def.set_method_name(signature.method_name);
  for (const auto& [key, tensor] : signature.inputs) {
    SLUICE_INVALID_IF(!tensor, "signature '", name, "': input '", key, "' is invalid");
    (*def.mutable_inputs())[key] = InfoOf(tensor);
  }
  for (const auto& [key, tensor] : signature.outputs) {
    SLUICE_INVALID_IF(!tensor, "signature '", name, "': output '", key, "' is invalid");
    (*def.mutable_outputs())[key] = InfoOf(tensor);
  }
  return absl::OkStatus();
}

void NameOp(const char* key, Operation op, pb::MetaGraphDef* meta) {
  if (!op) return;
  pb::TensorInfo& info = (*(*meta->mutable_signature_def())[key].mutable_outputs())[key];
  info.set_name(op.name());
  info.mutable_tensor_shape()->set_unknown_rank(true);
}

std::string Folded(const std::set<std::string>& tags) {
  std::string text;
  for (const std::string& tag : tags) StrAppend(&text, text.empty() ? "" : ", ", "'", tag, "'");
  return StrCat("{", text, "}");
}

std::set<std::string> TagsOf(const pb::MetaGraphDef& meta) {
  const auto& tags = meta.meta_info_def().tags();
  return {tags.begin(), tags.end()};
}

// Returns whether a name, which is read from a file, is a path inside the model's folder.
bool IsPlainName(const std::string& name) {
  if (name.empty() || name.starts_with('/')) return false;
  for (const auto& part : std::filesystem::path(name)) {
    if (part == "..") return false;
  }
  return true;
}

}  // namespace

SavedModelBuilder::SavedModelBuilder(std::string folder)
    : folder_(std::move(folder)), model_(std::make_unique<pb::SavedModel>()) {}

SavedModelBuilder::~SavedModelBuilder() = default;
SavedModelBuilder::SavedModelBuilder(SavedModelBuilder&&) = default;

absl::Status SavedModelBuilder::AddMetaGraphAndVariables(Session& session,
                                                         const SavedModelGraphOptions& options) {
  if (model_->meta_graphs_size() > 0) {
    return absl::FailedPreconditionError(
        "Graph state including variables and assets has already been saved. Please invoke "
        "`AddMetaGraph()` instead.");
  }
  const auto existing = MatchFiles(EscapePattern(folder_) + "/*");
  if (existing.ok() && !existing->empty()) {
    return absl::FailedPreconditionError(
        StrCat("Export directory ", folder_,
               " already exists, and isn't empty. Please choose a different export directory, or "
               "delete all the contents of the specified directory."));
  }
  SLUICE_RETURN_IF_ERROR(MakeDirectories(folder_ + "/variables"));
  std::unique_ptr<Saver> own;
  if (options.saver == nullptr) {
    own = std::make_unique<Saver>(session.graph(),
                                  SaverOptions{.sharded = true, .allow_empty = true});
  }
  Saver& saver = own ? *own : *options.saver;
  SLUICE_RETURN_IF_ERROR(saver
                             .Save(session, folder_ + "/variables/variables",
                                   {.write_meta_graph = false, .write_state = false})
                             .status());
  return Add(session.graph(), options, saver);
}

absl::Status SavedModelBuilder::AddMetaGraph(Graph& graph, const SavedModelGraphOptions& options) {
  if (model_->meta_graphs_size() == 0) {
    return absl::FailedPreconditionError(
        "Graph state including variables and assets has not been saved yet. Please invoke "
        "`AddMetaGraphAndVariables()` first.");
  }
  if (options.saver != nullptr) return Add(graph, options, *options.saver);
  Saver own(graph, {.sharded = true, .allow_empty = true});
  return Add(graph, options, own);
}

absl::Status SavedModelBuilder::Add(Graph& graph, const SavedModelGraphOptions& options,
                                    Saver& saver) {
  SLUICE_RETURN_IF_ERROR(graph.status());
  SLUICE_ASSIGN_OR_RETURN(pb::MetaGraphDef meta,
                          saver.ExportMetaGraph(options.strip_default_attrs));
  const std::set<std::string> tags(options.tags.begin(), options.tags.end());
  for (const pb::MetaGraphDef& other : model_->meta_graphs()) {
    SLUICE_INVALID_IF(TagsOf(other) == tags, "the model has a graph with the tags ", Folded(tags),
                      " already");
  }
  for (const std::string& tag : options.tags) meta.mutable_meta_info_def()->add_tags(tag);
  for (const auto& [name, signature] : options.signatures) {
    SLUICE_RETURN_IF_ERROR(AddSignature(name, signature, &meta));
  }
  NameOp(kInitOp, options.init_op, &meta);
  NameOp(kTrainOp, options.train_op, &meta);
  for (const Output& asset : options.assets) SLUICE_RETURN_IF_ERROR(CopyAsset(asset, &meta));
  if (options.clear_devices) {
    for (auto& node : *meta.mutable_graph_def()->mutable_node()) node.clear_device();
  }
  *model_->add_meta_graphs() = std::move(meta);
  return absl::OkStatus();
}

absl::Status SavedModelBuilder::CopyAsset(Output asset, pb::MetaGraphDef* meta) {
  const std::optional<Tensor> value = asset ? ConstantValue(asset) : std::nullopt;
  SLUICE_INVALID_IF(!value || value->dtype() != DT_STRING || value->num_elements() != 1, "asset '",
                    asset.name(), "': expected a constant string, the path of a file");
  const std::string& path = value->scalar<std::string>();
  // Adds a number to distinguish files that have the same name in different folders.
  std::string name = BaseNameOf(path);
  for (int i = 1; assets_.contains(name) && assets_[name] != path; ++i) {
    name = StrCat(BaseNameOf(path), "_", i);
  }
  if (!assets_.contains(name)) {
    SLUICE_ASSIGN_OR_RETURN(const std::string contents, ReadWholeFile(path));
    SLUICE_RETURN_IF_ERROR(MakeDirectories(folder_ + "/assets"));
    SLUICE_RETURN_IF_ERROR(WriteFileAtomically(StrCat(folder_, "/assets/", name), contents));
    assets_[name] = path;
  }
  pb::AssetFileDef* def = meta->add_asset_file_def();
  def->set_filename(name);
  def->mutable_tensor_info()->set_name(asset.name());
  return absl::OkStatus();
}

absl::StatusOr<std::string> SavedModelBuilder::Save(bool as_text) {
  if (model_->meta_graphs_size() == 0) {
    return absl::FailedPreconditionError("the model has no graph: AddMetaGraphAndVariables first");
  }
  model_->set_saved_model_schema_version(kSchemaVersion);
  const std::string path = folder_ + (as_text ? "/saved_model.pbtxt" : "/saved_model.pb");
  std::string bytes;
  if (as_text) {
    bytes = PrintText(*model_);
  } else if (!model_->SerializeToString(&bytes)) {
    return InvalidArgument("'", path, "': a SavedModel has at most 2147483647 bytes, got ",
                           model_->ByteSizeLong());
  }
  SLUICE_RETURN_IF_ERROR(WriteFileAtomically(path, bytes));
  return path;
}

absl::StatusOr<pb::SavedModel> ReadSavedModel(const std::string& folder) {
  pb::SavedModel model;
  const std::string binary = folder + "/saved_model.pb";
  const std::string text = folder + "/saved_model.pbtxt";
  if (FileExists(binary)) {
    SLUICE_ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(binary));
    if (!model.ParseFromString(bytes)) {
      return absl::DataLossError(StrCat("Cannot parse file ", binary));
    }
  } else if (FileExists(text)) {
    SLUICE_ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(text));
    if (absl::Status parsed = ParseText(bytes, &model); !parsed.ok()) {
      return absl::DataLossError(StrCat("Cannot parse file ", text, ": ", ToStd(parsed.message())));
    }
  } else {
    return absl::NotFoundError(StrCat("SavedModel file does not exist at: ", folder,
                                      "/{saved_model.pbtxt|saved_model.pb}"));
  }
  SLUICE_INVALID_IF(model.saved_model_schema_version() > kSchemaVersion, "SavedModel '", folder,
                    "': expected schema version ", kSchemaVersion, ", got ",
                    model.saved_model_schema_version());
  return model;
}

absl::StatusOr<SavedModel> LoadSavedModel(const std::string& folder,
                                          const std::vector<std::string>& tags, Graph& graph,
                                          std::string_view import_scope) {
  SLUICE_ASSIGN_OR_RETURN(const pb::SavedModel model, ReadSavedModel(folder));
  const std::set<std::string> wanted(tags.begin(), tags.end());
  const pb::MetaGraphDef* found = nullptr;
  std::string available;
  for (const pb::MetaGraphDef& meta : model.meta_graphs()) {
    if (TagsOf(meta) == wanted) found = &meta;
    StrAppend(&available, available.empty() ? "" : ", ", Folded(TagsOf(meta)));
  }
  if (found == nullptr) {
    return absl::NotFoundError(StrCat("MetaGraphDef associated with tags ", Folded(wanted),
                                      " could not be found in SavedModel '", folder,
                                      "', with available tags '[", available, "]'."));
  }
  SavedModel loaded;
  loaded.folder_ = folder;
  loaded.graph_ = &graph;
  if (!import_scope.empty()) loaded.scope_ = StrCat(import_scope, "/");
  SLUICE_RETURN_IF_ERROR(
      ImportMetaGraphDef(*found, graph, {.prefix = std::string(import_scope)}).status());
  auto meta = std::make_shared<pb::MetaGraphDef>(*found);
  meta->clear_graph_def();
  loaded.meta_ = std::move(meta);
  if (found->has_saver_def()) {
    SLUICE_ASSIGN_OR_RETURN(loaded.saver_, Saver::FromDef(found->saver_def(), graph, import_scope));
  }
  return loaded;
}

namespace {

// Returns the name of the main op. A signature has it or, in older files, a collection.
std::string InitOpOf(const pb::MetaGraphDef& meta) {
  if (const auto s = meta.signature_def().find(kInitOp); s != meta.signature_def().end()) {
    const auto info = s->second.outputs().find(kInitOp);
    if (info != s->second.outputs().end()) return info->second.name();
  }
  for (const char* key : {"saved_model_main_op", "legacy_init_op"}) {
    const auto collection = meta.collection_def().find(key);
    if (collection != meta.collection_def().end() &&
        collection->second.node_list().value_size() == 1) {
      return collection->second.node_list().value(0);
    }
  }
  return "";
}

std::vector<pb::AssetFileDef> AssetsOf(const pb::MetaGraphDef& meta) {
  std::vector<pb::AssetFileDef> assets(meta.asset_file_def().begin(), meta.asset_file_def().end());
  const auto older = meta.collection_def().find("saved_model_assets");
  if (!assets.empty() || older == meta.collection_def().end()) return assets;
  for (const auto& any : older->second.any_list().value()) {
    pb::AssetFileDef asset;
    if (asset.ParseFromString(any.value())) assets.push_back(std::move(asset));
  }
  return assets;
}

}  // namespace

SavedModel::SavedModel() : meta_(std::make_shared<pb::MetaGraphDef>()) {}

absl::Status SavedModel::Restore(Session& session, const std::string& checkpoint) const {
  if (saver_ != nullptr) {
    SLUICE_RETURN_IF_ERROR(saver_->Restore(
        session, checkpoint.empty() ? folder_ + "/variables/variables" : checkpoint));
  }
  const std::string init = InitOpOf(*meta_);
  if (init.empty()) return absl::OkStatus();
  std::vector<Feed> feeds;
  for (const pb::AssetFileDef& asset : AssetsOf(*meta_)) {
    SLUICE_INVALID_IF(!IsPlainName(asset.filename()), "SavedModel '", folder_,
                      "': expected the name of an asset, got '", asset.filename(), "'");
    SLUICE_ASSIGN_OR_RETURN(const Output tensor,
                            graph_->FindOutput(scope_ + asset.tensor_info().name()));
    feeds.push_back({tensor, Tensor::Scalar(StrCat(folder_, "/assets/", asset.filename()))});
  }
  SLUICE_ASSIGN_OR_RETURN(const Output op, graph_->FindOutput(scope_ + init));
  return session.Run(feeds, {}, {Operation(op)}).status();
}

absl::StatusOr<Signature> SavedModel::FindSignature(std::string_view name) const {
  const auto found = meta_->signature_def().find(std::string(name));
  if (found == meta_->signature_def().end()) {
    std::set<std::string> names;
    for (const auto& [key, def] : meta_->signature_def()) names.insert(key);
    return absl::NotFoundError(StrCat("no signature '", name, "' in SavedModel '", folder_,
                                      "', which has ", Folded(names)));
  }
  Signature signature;
  signature.method_name = found->second.method_name();
  for (const auto& [key, info] : found->second.inputs()) {
    SLUICE_ASSIGN_OR_RETURN(signature.inputs[key], graph_->FindOutput(scope_ + info.name()));
  }
  for (const auto& [key, info] : found->second.outputs()) {
    SLUICE_ASSIGN_OR_RETURN(signature.outputs[key], graph_->FindOutput(scope_ + info.name()));
  }
  return signature;
}

}  // namespace sluice
