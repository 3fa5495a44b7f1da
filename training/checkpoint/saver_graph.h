// Builds the nodes by which Saver saves and restores variables. They are those of
// tf.compat.v1.train.Saver, so that TensorFlow and Sluice can each use the Saver nodes in a graph
// of the other.
//
// Thread safety: that of the graph.
#ifndef SLUICE_TRAINING_CHECKPOINT_SAVER_GRAPH_H_
#define SLUICE_TRAINING_CHECKPOINT_SAVER_GRAPH_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/format/messages.h"
#include "graph/ir/graph.h"
#include "ops/state/variable.h"

namespace sluice {

// A variable and its name in checkpoints.
struct SavedVariable {
  std::string name;
  // For a part of a variable: the shape of the whole, then begin and length of the part in each
  // dimension. "4 2 0,2:-" stands for rows 0 and 1 of shape [4, 2]. "": a whole variable.
  std::string shape_and_slice;
  Variable variable;
};

// TensorFlow's two formats of checkpoints. kV2 is the newer one, with an index file and data files.
enum class CheckpointFormat { kV1, kV2 };

// Options of BuildSaverGraph. Those without a comment are explained in SaverOptions.
struct SaverGraphOptions {
  std::string name;  // name scope of the nodes; "" stands for "save"
  bool sharded = false;
  bool reshape = false;
  // The parts of embedding tables to save. Each part is a separate file of the checkpoint.
  std::vector<Variable> tables = {};
  CheckpointFormat write_version = CheckpointFormat::kV2;
  std::string filename = "model";
};

// Adds the nodes that save and restore `variables`, in this order. Returns the names of the nodes,
// or the graph's error if it has one.
absl::StatusOr<pb::SaverDef> BuildSaverGraph(Graph& graph,
                                             const std::vector<SavedVariable>& variables,
                                             const SaverGraphOptions& options,
                                             At at = At::current());

}  // namespace sluice

#endif  // SLUICE_TRAINING_CHECKPOINT_SAVER_GRAPH_H_
