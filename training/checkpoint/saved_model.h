// Writes and reads SavedModels. These are folders with graphs, signatures, variables and assets. A
// reader can run the model without the program that wrote it.
//
//   SavedModelBuilder builder("/models/1");
//   builder.AddMetaGraphAndVariables(session, {.signatures = {{"serving_default",
//       {.inputs = {{"x", x}}, .outputs = {{"y", y}}}}}});
//   builder.Save();
//
//   Graph g;
//   SavedModel model = LoadSavedModel("/models/1", {"serve"}, g).value();
//   Session session(g);
//   model.Restore(session);
//
// The format is TensorFlow's. `saved_model.pb` is written last and atomically, so a folder without
// it holds no SavedModel.
//
// Thread safety: that of the graph, which one thread at a time builds.
// Ownership: the graph owns loaded nodes. A builder uses sessions and savers during its calls only.
// Errors: those of Saver and of the file system. DATA_LOSS for a damaged file. No content of a file
// is trusted; a name of an asset that leads out of the folder is an error.
// Reference: tf.compat.v1.saved_model.
#ifndef SLUICE_TRAINING_CHECKPOINT_SAVED_MODEL_H_
#define SLUICE_TRAINING_CHECKPOINT_SAVED_MODEL_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/session/session.h"
#include "graph/format/messages.h"
#include "graph/ir/graph.h"
#include "training/checkpoint/saver.h"

namespace sluice {

// Tags and names that serving systems expect.
inline constexpr std::string_view kServingTag = "serve";
inline constexpr std::string_view kTrainingTag = "train";
inline constexpr std::string_view kDefaultServingSignature = "serving_default";
inline constexpr std::string_view kPredictMethod = "tensorflow/serving/predict";

// An entry point of a model for serving systems: the tensors to feed and the tensors to fetch,
// under the names that callers use.
struct Signature {
  std::map<std::string, Output> inputs;
  std::map<std::string, Output> outputs;
  std::string method_name = std::string(kPredictMethod);
};

struct SavedModelGraphOptions {
  // Tags of the graph. Graphs of one model have different sets of tags.
  std::vector<std::string> tags = {std::string(kServingTag)};
  std::map<std::string, Signature> signatures;
  // String constants that hold paths of files. The files are copied into the model. When a loaded
  // model runs `init_op`, it feeds these constants the paths of the copies.
  OutputList assets;
  // Runs after the variables are restored, for example to fill tables.
  Operation init_op;
  // The op of a training step. Its name is stored in the model. A builder or loader never runs it.
  Operation train_op;
  // The saver that writes the variables. Null: a new saver of all variables. Used during the call.
  Saver* saver = nullptr;
  // Whether attributes that have their op's default value are omitted, so that older programs can
  // read the graph.
  bool strip_default_attrs = false;
  // Whether the devices of all nodes are removed, so that the model runs on other machines.
  bool clear_devices = false;
};

// Writes one model. AddMetaGraphAndVariables writes the values of variables, both Add methods write
// assets, and Save writes the graphs.
class SavedModelBuilder {
 public:
  explicit SavedModelBuilder(std::string folder);
  ~SavedModelBuilder();
  SavedModelBuilder(SavedModelBuilder&&);

  // Adds the session's graph and saves the values of its variables, which all graphs of the model
  // share. FAILED_PRECONDITION if the folder is not empty or a first graph was added before.
  // INVALID_ARGUMENT for invalid handles in a signature, and for assets that are not constant
  // strings.
  absl::Status AddMetaGraphAndVariables(Session& session, const SavedModelGraphOptions& options);

  // Adds another graph with other tags, which uses the variables' values that are already in the
  // model. FAILED_PRECONDITION if no first graph was added before. INVALID_ARGUMENT if the tags are
  // in use.
  absl::Status AddMetaGraph(Graph& graph, const SavedModelGraphOptions& options);

  // Writes `saved_model.pb` or `saved_model.pbtxt`, and returns its path. FAILED_PRECONDITION if no
  // graph was added. INVALID_ARGUMENT if `saved_model.pb` would have 2 GiB or more.
  absl::StatusOr<std::string> Save(bool as_text = false);

 private:
  absl::Status Add(Graph& graph, const SavedModelGraphOptions& options, Saver& saver);
  absl::Status CopyAsset(Output asset, pb::MetaGraphDef* meta);

  const std::string folder_;
  std::unique_ptr<pb::SavedModel> model_;      // null only after a move
  std::map<std::string, std::string> assets_;  // name in the model -> source file
};

// A model that was loaded into a graph. Movable. Lifetime: the graph outlives it.
class SavedModel {
 public:
  SavedModel();
  // Restores the variables and runs the model's init op. `session` is a session of the graph. If
  // `checkpoint` is not empty, the values come from it instead of the model's folder.
  absl::Status Restore(Session& session, const std::string& checkpoint = "") const;
  // Returns the signature with its tensors in the loaded graph. NOT_FOUND if there is none with
  // this name; the error lists the existing ones.
  absl::StatusOr<Signature> FindSignature(std::string_view name) const;
  // The file's meta graph without its graph_def. Its names of nodes lack the import scope.
  const pb::MetaGraphDef& meta_graph() const { return *meta_; }
  // Null if the graph has no variables.
  Saver* saver() const { return saver_.get(); }

 private:
  friend absl::StatusOr<SavedModel> LoadSavedModel(const std::string& folder,
                                                   const std::vector<std::string>& tags,
                                                   Graph& graph, std::string_view import_scope);
  std::string folder_;
  std::string scope_;  // the import scope: "" or "a/"
  Graph* graph_ = nullptr;
  std::shared_ptr<const pb::MetaGraphDef> meta_;
  std::unique_ptr<Saver> saver_;
};

// Reads `saved_model.pb` or `saved_model.pbtxt` without a graph. NOT_FOUND if neither exists.
absl::StatusOr<pb::SavedModel> ReadSavedModel(const std::string& folder);

// Imports the graph that has exactly these tags into `graph`, in the name scope `import_scope` if
// it is not empty. SavedModel::Restore then reads the values. NOT_FOUND if no graph has these tags;
// the error lists the existing ones. Also returns the errors of ImportGraphDef.
absl::StatusOr<SavedModel> LoadSavedModel(const std::string& folder,
                                          const std::vector<std::string>& tags, Graph& graph,
                                          std::string_view import_scope = "");

}  // namespace sluice

#endif  // SLUICE_TRAINING_CHECKPOINT_SAVED_MODEL_H_
