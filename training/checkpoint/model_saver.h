// The interface through which a training loop saves a model. Saver implements it.
//
// Thread safety: none; only the loop's thread calls it.
#ifndef SLUICE_TRAINING_CHECKPOINT_MODEL_SAVER_H_
#define SLUICE_TRAINING_CHECKPOINT_MODEL_SAVER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/session/session.h"
#include "graph/ir/graph.h"

namespace sluice {

// The contents of a folder's file `checkpoint`, as paths of checkpoints.
struct LatestCheckpoints {
  std::string latest;            // "" if there is none
  std::vector<std::string> all;  // oldest first
};

class ModelSaver {
 public:
  virtual ~ModelSaver() = default;
  // Adds the ops that save and restore. Called once, before the graph is finalized.
  virtual absl::Status Build(Graph& graph) = 0;
  // Writes `<prefix>-<global_step>`, makes it the latest, and returns its path.
  virtual absl::StatusOr<std::string> Save(Session& session, const std::string& prefix,
                                           int64_t global_step, bool write_meta_graph) = 0;
  virtual absl::Status Restore(Session& session, const std::string& path) = 0;
  // Returns the checkpoints of a folder. The result is empty, without an error, if there are none.
  virtual absl::StatusOr<LatestCheckpoints> FindCheckpoints(const std::string& folder) = 0;
  // Replaces the list of saved checkpoints, of which the saver deletes the oldest ones. `paths` are
  // the checkpoints of an earlier run, oldest first.
  virtual void RecoverLastCheckpoints(const std::vector<std::string>& paths) = 0;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_CHECKPOINT_MODEL_SAVER_H_
