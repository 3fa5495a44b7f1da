// What a training loop needs of a saver.
//
// Thread safety: none; the thread of the loop calls.
#ifndef SLUICE_TRAINING_SESSION_MODEL_SAVER_H_
#define SLUICE_TRAINING_SESSION_MODEL_SAVER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/session/session.h"
#include "graph/ir/graph.h"

namespace sluice {

// What the file `checkpoint` of a folder says.
struct LatestCheckpoints {
  std::string latest;            // path
  std::vector<std::string> all;  // oldest first
};

class ModelSaver {
 public:
  virtual ~ModelSaver() = default;
  // Adds the ops that save and restore, once, before the graph is finalised.
  virtual absl::Status Build(Graph& graph) = 0;
  // Writes `<prefix>-<global_step>` and makes it the latest; its path.
  virtual absl::StatusOr<std::string> Save(Session& session, const std::string& prefix,
                                           int64_t global_step, bool write_meta_graph) = 0;
  virtual absl::Status Restore(Session& session, const std::string& path) = 0;
  // The checkpoints of a folder; empty where there are none.
  virtual absl::StatusOr<LatestCheckpoints> FindCheckpoints(const std::string& folder) = 0;
  // The checkpoints of a run before, oldest first: they count among those to keep.
  virtual void RecoverLastCheckpoints(const std::vector<std::string>& paths) = 0;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_MODEL_SAVER_H_
