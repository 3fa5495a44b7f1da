// A Saver as a training loop uses it.
#ifndef SLUICE_TRAINING_SESSION_CHECKPOINTS_H_
#define SLUICE_TRAINING_SESSION_CHECKPOINTS_H_

#include <memory>
#include <string>
#include <vector>

#include "training/checkpoint/saver.h"
#include "training/session/model_saver.h"

namespace sluice {

class Checkpoints : public ModelSaver {
 public:
  explicit Checkpoints(std::shared_ptr<Saver> saver) : saver_(std::move(saver)) {}
  // Of all variables, as a Scaffold makes one: sharded, and no error for a graph without variables.
  static std::shared_ptr<ModelSaver> OfAllVariables();

  absl::Status Build(Graph& graph) override;
  absl::StatusOr<std::string> Save(Session& session, const std::string& prefix, int64_t global_step,
                                   bool write_meta_graph) override;
  absl::Status Restore(Session& session, const std::string& path) override;
  absl::StatusOr<LatestCheckpoints> FindCheckpoints(const std::string& folder) override;
  void RecoverLastCheckpoints(const std::vector<std::string>& paths) override;

  Saver& saver() const { return *saver_; }

 private:
  std::shared_ptr<Saver> saver_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_CHECKPOINTS_H_
