// SavedModels: a folder with graphs, their signatures, variables and assets, for those who run a
// model without knowing the program that made it.
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
// The format is TensorFlow's, read and written. `saved_model.pb` is written last, and atomically: a
// folder without it is none.
//
// Thread safety: as the graph's.
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

inline constexpr std::string_view kServingTag = "serve";
inline constexpr std::string_view kTrainingTag = "train";
inline constexpr std::string_view kDefaultServingSignature = "serving_default";
inline constexpr std::string_view kPredictMethod = "tensorflow/serving/predict";

// What a caller feeds and fetches, under names of its own.
struct Signature {
  std::map<std::string, Output> inputs;
  std::map<std::string, Output> outputs;
  std::string method_name = std::string(kPredictMethod);
};

struct SavedModelGraphOptions {
  std::vector<std::string> tags = {std::string(kServingTag)};
  std::map<std::string, Signature> signatures;
  // Constants that hold the path of a file, which is copied into the model. While `init_op` runs in
  // a loaded model they are fed the copy's path.
  OutputList assets;
  Operation init_op;       // run after the variables are restored
  Operation train_op;      // only named
  Saver* saver = nullptr;  // null: one of all variables is made
  bool strip_default_attrs = false;
  bool clear_devices = false;
};

class SavedModelBuilder {
 public:
  explicit SavedModelBuilder(std::string folder);
  ~SavedModelBuilder();
  SavedModelBuilder(SavedModelBuilder&&);

  // The first graph of the model, and the values that all of its graphs share. FAILED_PRECONDITION
  // where the folder is not empty, or where there is a first graph already.
  absl::Status AddMetaGraphAndVariables(Session& session, const SavedModelGraphOptions& options);
  // A further graph over the same values, under other tags.
  absl::Status AddMetaGraph(Graph& graph, const SavedModelGraphOptions& options);
  // Writes `saved_model.pb`, or `saved_model.pbtxt`. Returns its path.
  absl::StatusOr<std::string> Save(bool as_text = false);

 private:
  absl::Status Add(Graph& graph, const SavedModelGraphOptions& options, Saver& saver);
  absl::Status CopyAsset(Output asset, pb::MetaGraphDef* meta);

  const std::string folder_;
  std::unique_ptr<pb::SavedModel> model_;      // null only when moved from
  std::map<std::string, std::string> assets_;  // name in the model -> the file that it is a copy of
};

// A model that was loaded into a graph. The graph outlives it.
class SavedModel {
 public:
  SavedModel();
  // Gives the variables their values and runs the model's init op.
  absl::Status Restore(Session& session) const;
  // NOT_FOUND names those that there are.
  absl::StatusOr<Signature> FindSignature(std::string_view name) const;
  // Without its graph_def. Names in it are as in the file, without the import scope.
  const pb::MetaGraphDef& meta_graph() const { return *meta_; }
  // Null where the graph has no variables.
  Saver* saver() const { return saver_.get(); }

 private:
  friend absl::StatusOr<SavedModel> LoadSavedModel(const std::string& folder,
                                                   const std::vector<std::string>& tags,
                                                   Graph& graph, std::string_view import_scope);
  std::string folder_;
  std::string scope_;  // "" or "a/"
  Graph* graph_ = nullptr;
  std::shared_ptr<const pb::MetaGraphDef> meta_;
  std::unique_ptr<Saver> saver_;
};

// `saved_model.pb`, or `saved_model.pbtxt`. NOT_FOUND where there is neither.
absl::StatusOr<pb::SavedModel> ReadSavedModel(const std::string& folder);
// Imports the graph that has just these tags. NOT_FOUND lists the tags that there are.
absl::StatusOr<SavedModel> LoadSavedModel(const std::string& folder,
                                          const std::vector<std::string>& tags, Graph& graph,
                                          std::string_view import_scope = "");

}  // namespace sluice

#endif  // SLUICE_TRAINING_CHECKPOINT_SAVED_MODEL_H_
