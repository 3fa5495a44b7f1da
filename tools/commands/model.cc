#include "tools/commands/model.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_join.h"
#include "executor/files/files.h"
#include "graph/format/proto/meta_graph.pb.h"
#include "graph/format/proto/saver.pb.h"
#include "graph/status.h"
#include "tools/commands/graph_file.h"
#include "training/checkpoint/checkpoint_state.h"
#include "training/checkpoint/saver.h"

ABSL_FLAG(
    std::string, checkpoint, "",
    "run, trace: checkpoint with the values of the variables, or a folder, whose latest it is");
ABSL_FLAG(std::string, signature, "",
          "run, trace: signature whose names --feeds and --fetches use; default of --fetches: its "
          "outputs");
ABSL_FLAG(std::vector<std::string>, tags, {std::string(sluice::kServingTag)},
          "run, trace: tags of the SavedModel's graph");

namespace sluice {
namespace {

void AddNames(const std::string& key, const pb::TensorInfo& info, TensorNames& names) {
  if (info.has_coo_sparse()) {
    names[key + "/values"] = info.coo_sparse().values_tensor_name();
    names[key + "/indices"] = info.coo_sparse().indices_tensor_name();
    names[key + "/dense_shape"] = info.coo_sparse().dense_shape_tensor_name();
  } else if (info.has_composite_tensor()) {
    for (int i = 0; i < info.composite_tensor().components_size(); ++i) {
      AddNames(StrCat(key, "/", i), info.composite_tensor().components(i), names);
    }
  } else {
    names[key] = info.name();
  }
}

// A saver of the nodes that tf.train.Saver adds by default, for graphs without a SaverDef.
pb::SaverDef DefaultSaver() {
  pb::SaverDef def;
  def.set_filename_tensor_name("save/Const:0");
  def.set_save_tensor_name("save/Const:0");
  def.set_restore_op_name("save/restore_all");
  def.set_version(pb::SaverDef::V2);
  return def;
}

absl::StatusOr<std::unique_ptr<Saver>> SaverOf(const pb::MetaGraphDef& meta, Graph& graph) {
  if (meta.has_saver_def()) return Saver::FromDef(meta.saver_def(), graph);
  const pb::SaverDef by_default = DefaultSaver();
  if (graph.Find(by_default.restore_op_name()) != nullptr) return Saver::FromDef(by_default, graph);
  auto saver = std::make_unique<Saver>();
  if (const absl::Status built = saver->Build(graph); !built.ok()) {
    return Annotate(built,
                    "--checkpoint: the graph has neither a saver (SaverDef or 'save/restore_all') "
                    "nor a list of its variables: ");
  }
  return saver;
}

}  // namespace

TensorNames NamesOf(const google::protobuf::Map<std::string, pb::TensorInfo>& infos) {
  TensorNames names;
  for (const auto& [key, info] : infos) AddNames(key, info, names);
  return names;
}

bool IsSavedModel(const std::string& path) {
  return FileExists(path + "/saved_model.pb") || FileExists(path + "/saved_model.pbtxt");
}

absl::StatusOr<Model> Model::Load(const std::string& path, Graph& graph) {
  Model model;
  model.path_ = path;
  if (IsSavedModel(path)) {
    SLUICE_ASSIGN_OR_RETURN(model.saved_, LoadSavedModel(path, absl::GetFlag(FLAGS_tags), graph));
    model.meta_ = model.saved_->meta_graph();
    return model;
  }
  SLUICE_ASSIGN_OR_RETURN(const GraphFile file, ReadGraphFile(path));
  SLUICE_ASSIGN_OR_RETURN(ImportedMetaGraph imported, ImportMetaGraphDef(file.meta, graph));
  model.meta_ = std::move(imported.rest);
  if (!absl::GetFlag(FLAGS_checkpoint).empty()) {
    SLUICE_ASSIGN_OR_RETURN(model.saver_, SaverOf(model.meta_, graph));
  }
  return model;
}

absl::StatusOr<SignatureNames> Model::Signature() const {
  const std::string name = absl::GetFlag(FLAGS_signature);
  if (name.empty()) return SignatureNames();
  const auto found = meta_.signature_def().find(name);
  if (found != meta_.signature_def().end()) {
    return SignatureNames{.inputs = NamesOf(found->second.inputs()),
                          .outputs = NamesOf(found->second.outputs())};
  }
  std::set<std::string> existing;
  for (const auto& [key, signature] : meta_.signature_def()) existing.insert(key);
  return absl::NotFoundError(StrCat("--signature: '", path_, "' has no signature '", name,
                                    "'; it has: ", absl::StrJoin(existing, ", ")));
}

absl::Status Model::Restore(Session& session) const {
  std::string checkpoint = absl::GetFlag(FLAGS_checkpoint);
  if (IsDirectory(checkpoint)) {
    SLUICE_ASSIGN_OR_RETURN(checkpoint, LatestCheckpoint(checkpoint));
  }
  if (saved_.has_value()) return saved_->Restore(session, checkpoint);
  return saver_ == nullptr ? absl::OkStatus() : saver_->Restore(session, checkpoint);
}

}  // namespace sluice
