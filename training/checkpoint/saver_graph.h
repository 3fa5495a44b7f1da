// Builds the nodes that save and restore variables. They are those of tf.compat.v1.train.Saver, so
// that either program's Saver can run a graph of the other.
//
// Thread safety: as the graph's.
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
  std::string shape_and_slice;  // "4 2 0,2:-" for a part; "" for a whole variable
  Variable variable;
};

// TensorFlow's two formats.
enum class CheckpointFormat { kV1, kV2 };

struct SaverGraphOptions {
  std::string name;  // of the scope; "" = "save"
  bool sharded = false;
  bool reshape = false;
  // The parts of embedding tables to save. Each part is a separate file of the checkpoint.
  std::vector<Variable> tables = {};
  CheckpointFormat write_version = CheckpointFormat::kV2;
  std::string filename = "model";
};

// `variables` are in the order of writing. Returns the graph's error, if it has one.
absl::StatusOr<pb::SaverDef> BuildSaverGraph(Graph& graph,
                                             const std::vector<SavedVariable>& variables,
                                             const SaverGraphOptions& options,
                                             At at = At::current());

}  // namespace sluice

#endif  // SLUICE_TRAINING_CHECKPOINT_SAVER_GRAPH_H_
