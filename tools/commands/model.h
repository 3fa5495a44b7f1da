// Model loads the trained model that the command line names: a graph with its signatures and
// variables.
#ifndef SLUICE_TOOLS_COMMANDS_MODEL_H_
#define SLUICE_TOOLS_COMMANDS_MODEL_H_

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/session/session.h"
#include "graph/format/meta_graph.h"
#include "graph/ir/graph.h"
#include "training/checkpoint/saved_model.h"

namespace sluice {

// Names of tensors by key of a signature. A key of several tensors, such as those of a sparse
// tensor, is listed as "key/part" for each of them.
using TensorNames = std::map<std::string, std::string>;
TensorNames NamesOf(const google::protobuf::Map<std::string, pb::TensorInfo>& infos);

// The tensors that a signature names. Empty without --signature.
struct SignatureNames {
  TensorNames inputs, outputs;
};

// Whether `path` is the folder of a SavedModel.
bool IsSavedModel(const std::string& path);

// Lifetime: the graph outlives the model.
class Model {
 public:
  // Imports the graph of `path`: the file of a GraphDef or MetaGraphDef, or the folder of a
  // SavedModel. A SavedModel may have several graphs, and --tags chooses one. With --checkpoint,
  // the graph must have nodes that restore its variables, or list its variables.
  static absl::StatusOr<Model> Load(const std::string& path, Graph& graph);
  // The signature that --signature names. NOT_FOUND lists the existing signatures.
  absl::StatusOr<SignatureNames> Signature() const;
  // Restores the variables of --checkpoint or of the SavedModel, and runs the SavedModel's init op.
  absl::Status Restore(Session& session) const;

 private:
  std::string path_;
  pb::MetaGraphDef meta_;            // without graph_def
  std::optional<SavedModel> saved_;  // nullopt if the model is a graph file
  std::unique_ptr<Saver> saver_;     // null without --checkpoint, or if saved_ has one
};

}  // namespace sluice

#endif  // SLUICE_TOOLS_COMMANDS_MODEL_H_
