// Saves a graph's variables to checkpoints, and restores them.
//
//   Saver saver(g);                                  // adds its nodes to the graph
//   std::string path = saver.Save(session, "/models/m", {.global_step = 100}).value();
//   saver.Restore(session, LatestCheckpoint("/models").value());
//
// Nodes, files and rules are those of tf.compat.v1.train.Saver: either program restores what the
// other saved, and runs the Saver of the other's meta graph. A save that is cut off, at whatever
// write, leaves the checkpoint before: files appear whole, the state file last.
//
// Thread safety: Build as the graph's; the rest from any thread (saves one after the other).
// Lifetime: the graph outlives the saver.
#ifndef SLUICE_TRAINING_CHECKPOINT_SAVER_H_
#define SLUICE_TRAINING_CHECKPOINT_SAVER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/session/session.h"
#include "graph/format/messages.h"
#include "graph/ir/graph.h"
#include "graph/mutex.h"
#include "ops/state/variable.h"
#include "training/checkpoint/checkpoint_state.h"
#include "training/checkpoint/model_saver.h"
#include "training/checkpoint/saver_graph.h"

namespace sluice {

struct SaverOptions {
  // What is saved; empty: all global variables, in the collections `variables` and
  // `saveable_objects`. Parts of a variable are saved as slices of the whole.
  std::vector<Variable> variables;
  // Under names of their own, in place of `variables`: restores a checkpoint whose names differ.
  // Parts of one variable stand under the same name.
  std::multimap<std::string, Variable> names;
  // A restored tensor takes its variable's shape, if it has as many elements.
  bool reshape = false;
  // One data file a device that has variables, each written by its own device's process.
  bool sharded = false;
  // Older checkpoints are deleted; 0 keeps all, and the state file lists the last alone.
  int max_to_keep = 5;
  // Of those to be deleted, one in so many hours is kept.
  double keep_checkpoint_every_n_hours = 10000;
  std::string name;  // scope of the nodes; "" = "save"
  CheckpointFormat write_version = CheckpointFormat::kV2;
  // "model-00000100", so that names sort as steps do.
  bool pad_step_number = false;
  // The state file has paths below its folder, which can then be moved.
  bool save_relative_paths = false;
  // A save has succeeded when every byte has been read back; NOT_FOUND where the files are not here
  // (another machine wrote them to a disk of its own).
  bool verify = true;
  // A graph without variables saves and restores nothing; else that is an error.
  bool allow_empty = false;
  // What a run without a path would use.
  std::string filename = "model";
  // Seconds since 1970; for tests.
  std::function<double()> clock;
};

struct SaveOptions {
  std::optional<int64_t> global_step;  // "<path>-<global_step>"
  std::string latest_filename = std::string(kCheckpointStateFile);
  std::string meta_graph_suffix = "meta";
  bool write_meta_graph = true;
  // Enters the checkpoint in the state file, and deletes those that are too old.
  bool write_state = true;
  bool strip_default_attrs = false;
};

class Saver : public ModelSaver {
 public:
  // Without nodes yet: Build adds them.
  explicit Saver(SaverOptions options = {});
  // Errors of Build are kept, and come back from Save and Restore.
  explicit Saver(Graph& graph, SaverOptions options = {}, At at = At::current());
  // Over the nodes that a graph has already, imported under `import_scope`. INVALID_ARGUMENT where
  // they are not there.
  static absl::StatusOr<std::unique_ptr<Saver>> FromDef(const pb::SaverDef& def, Graph& graph,
                                                        std::string_view import_scope = "");
  ~Saver() override;
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  // Adds the nodes, once. INVALID_ARGUMENT "No variables to save", or where two variables have one
  // name.
  absl::Status Build(Graph& graph, At at);
  absl::Status Build(Graph& graph) override { return Build(graph, At::current()); }

  // The checkpoint's path: what Restore takes. Options that make no sense, a path whose folder does
  // not exist: INVALID_ARGUMENT.
  absl::StatusOr<std::string> Save(Session& session, const std::string& path,
                                   const SaveOptions& options = {});
  absl::StatusOr<std::string> Save(Session& session, const std::string& path, int64_t global_step) {
    return Save(session, path, {.global_step = global_step});
  }
  absl::StatusOr<std::string> Save(Session& session, const std::string& prefix, int64_t global_step,
                                   bool write_meta_graph) override {
    return Save(session, prefix,
                {.global_step = global_step, .write_meta_graph = write_meta_graph});
  }

  // INVALID_ARGUMENT "The passed save_path is not a valid checkpoint: …". Where a variable does not
  // fit, the error names all that do not, with what was expected and what the file has.
  absl::Status Restore(Session& session, const std::string& path) override;

  // The nodes' names, as a meta graph carries them.
  const pb::SaverDef& saver_def() const { return *def_; }
  const std::vector<SavedVariable>& saved() const { return saved_; }
  // The graph with its variables and this saver, as `<checkpoint>.meta` has it.
  absl::StatusOr<pb::MetaGraphDef> ExportMetaGraph(bool strip_default_attrs = false) const;

  // Oldest first.
  std::vector<std::string> last_checkpoints() const;
  // Takes over checkpoints of an earlier run, oldest first: they count as this saver's own. Those
  // that are gone are left out.
  void RecoverLastCheckpoints(const std::vector<std::string>& paths) override;
  // The latest is the one that LatestCheckpoint finds.
  absl::StatusOr<LatestCheckpoints> FindCheckpoints(const std::string& folder) override;

 private:
  struct Kept {
    std::string path;
    double time;
  };
  absl::Status Resolve(Graph& graph);
  absl::StatusOr<std::string> Write(Session& session, const std::string& path);
  absl::Status Verify(const std::string& path) const;
  absl::Status Record(const std::string& path, const SaveOptions& options);
  absl::Status DeleteOld(const std::string& meta_graph_suffix)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // What of the checkpoint does not fit; "" if that cannot be told.
  std::string Mismatches(const std::string& path) const;

  SaverOptions options_;
  Graph* graph_ = nullptr;
  absl::Status built_ = absl::FailedPreconditionError("saver: Build must be called before");
  bool is_empty_ = false;
  std::unique_ptr<pb::SaverDef> def_;  // never null
  std::vector<SavedVariable> saved_;
  Output filename_;
  Output save_;
  Operation restore_;

  mutable Mutex mutex_;
  std::vector<Kept> kept_ ABSL_GUARDED_BY(mutex_);
  std::vector<Kept> to_delete_ ABSL_GUARDED_BY(mutex_);
  double next_kept_time_ ABSL_GUARDED_BY(mutex_) = 0;
};

// The variables under the names that a Saver saves them with. INVALID_ARGUMENT where two have one.
absl::StatusOr<std::vector<SavedVariable>> SavedVariables(const Graph& graph,
                                                          const SaverOptions& options);

}  // namespace sluice

#endif  // SLUICE_TRAINING_CHECKPOINT_SAVER_H_
