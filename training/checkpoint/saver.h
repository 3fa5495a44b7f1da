// Saves a graph's variables to checkpoints and restores them.
//
//   Saver saver(g);                                  // adds its nodes to the graph
//   std::string path = saver.Save(session, "/models/m", {.global_step = 100}).value();
//   saver.Restore(session, LatestCheckpoint("/models").value());
//
// Nodes, files and rules are those of tf.compat.v1.train.Saver. TensorFlow and Sluice restore each
// other's checkpoints and run the Saver of each other's meta graphs. An interrupted save never
// damages the previous checkpoint: each file is replaced atomically, and the state file is written
// last.
//
// A checkpoint "m-100" is the files m-100.index, m-100.data-<shard>-of-<shards> and m-100.meta.
//
// Thread safety: one thread at a time may call Build, any thread all other methods. Calls of Save
// at the same time must write different checkpoints.
// Ownership: the graph owns the nodes and outlives the saver. Sessions are used during calls only.
// Errors: those of the session's steps, and of the file system. DATA_LOSS for a damaged file.
// Reference: tf.compat.v1.train.Saver.
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

// Options of a saver. By default it saves all variables and keeps five checkpoints.
struct SaverOptions {
  // The variables to save. Empty: all variables of the collections `variables` and
  // `saveable_objects`, and all embedding tables. Parts of a partitioned variable are saved as
  // slices of the whole.
  std::vector<Variable> variables;

  // Further variables to save, with their names in the checkpoint, for example to load a part of
  // another model. Parts of a partitioned variable share a name. If `names` is not empty, an empty
  // list `variables` adds no variables.
  //
  //   Saver encoder({.names = {{"bert/embeddings", table}}});   // then Build and Restore
  std::multimap<std::string, Variable> names;
  // Whether a restored tensor with another shape than its variable is reshaped, if it has as many
  // elements. Otherwise Restore fails.
  bool reshape = false;
  // Whether each device writes a data file of its own, in the device's process.
  bool sharded = false;
  // The number of checkpoints to keep; older ones are deleted. 0 keeps all, and the state file then
  // lists only the latest.
  int max_to_keep = 5;
  // In addition, one checkpoint of each period of this many hours is never deleted.
  double keep_checkpoint_every_n_hours = 10000;
  // Name scope of the nodes. "": "save".
  std::string name;
  CheckpointFormat write_version = CheckpointFormat::kV2;
  // Whether step numbers in names have leading zeros ("model-00000100"), so that the order of names
  // is the order of steps.
  bool pad_step_number = false;
  // Whether the state file has paths relative to the folder, so that the folder can be moved.
  bool save_relative_paths = false;
  // Whether Save reads every byte back before it succeeds. It then returns NOT_FOUND if this
  // process cannot see the files, for example if another machine wrote them to its own disk.
  bool verify = true;
  // Whether a graph without variables is allowed: it saves and restores nothing. Otherwise it is an
  // error.
  bool allow_empty = false;
  // The default value of the graph's tensor with the checkpoint's path. Save and Restore feed this
  // tensor, so only programs that run the nodes without feeding it use the default.
  std::string filename = "model";
  // Returns the seconds since 1970. Empty: the system's clock. Tests set it.
  std::function<double()> clock;
};

struct SaveOptions {
  // Appended to the checkpoint's name: "<path>-<global_step>". Nullopt: the name is `path`.
  std::optional<int64_t> global_step;

  // Name of the state file in the checkpoint's folder, which LatestCheckpoint reads.
  // INVALID_ARGUMENT if it contains '/'.
  std::string latest_filename = std::string(kCheckpointStateFile);
  std::string meta_graph_suffix = "meta";
  // Whether to write the graph to "<checkpoint>.<meta_graph_suffix>". A program that does not build
  // this graph itself can then load it.
  bool write_meta_graph = true;
  // Whether to add the checkpoint to the state file and to delete the oldest checkpoints beyond
  // max_to_keep.
  bool write_state = true;
  // Whether the written graph lacks attributes that have their op's default value, so that older
  // programs can read it.
  bool strip_default_attrs = false;
};

// Adds one op that saves variables and one that restores them to a graph, and runs these ops in the
// caller's sessions.
class Saver : public ModelSaver {
 public:
  // Adds no nodes. Build must be called before other methods.
  explicit Saver(SaverOptions options = {});
  // Calls Build. If it fails, Save and Restore return its error.
  explicit Saver(Graph& graph, SaverOptions options = {}, At at = At::current());
  // Returns a Saver that uses nodes of the graph instead of new ones. `def` has their names, to
  // which `import_scope` is prepended. INVALID_ARGUMENT if they do not exist.
  static absl::StatusOr<std::unique_ptr<Saver>> FromDef(const pb::SaverDef& def, Graph& graph,
                                                        std::string_view import_scope = "");
  ~Saver() override;
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  // Adds the nodes, once. INVALID_ARGUMENT "No variables to save", or if two variables have the
  // same name.
  absl::Status Build(Graph& graph, At at);
  absl::Status Build(Graph& graph) override { return Build(graph, At::current()); }

  // Writes a checkpoint with the values that the variables have while the step runs. Do not train
  // at the same time if all values must be of the same global step. Returns the checkpoint's path,
  // for Restore.
  //
  // INVALID_ARGUMENT if options contradict each other or the path's folder does not exist.
  // FAILED_PRECONDITION if a variable has no value. After an error the state file still lists the
  // former checkpoints.
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

  // Assigns the checkpoint's values to all variables of the saver; they need no initialization
  // before. `path` is a checkpoint's name without a suffix.
  //
  // INVALID_ARGUMENT "The passed save_path is not a valid checkpoint: …". If variables do not
  // match, the error lists all of them, with the expected type and shape and the type and shape in
  // the file. Some variables may be assigned by then.
  absl::Status Restore(Session& session, const std::string& path) override;

  // The names of the saver's nodes and some options, as a meta graph stores them.
  const pb::SaverDef& saver_def() const { return *def_; }
  // The variables with their names in checkpoints, sorted by name.
  const std::vector<SavedVariable>& saved() const { return saved_; }
  // The graph with its variables and this saver, as stored in `<checkpoint>.meta`.
  absl::StatusOr<pb::MetaGraphDef> ExportMetaGraph(bool strip_default_attrs = false) const;

  // The checkpoints that this saver will delete in turn, oldest first.
  std::vector<std::string> last_checkpoints() const;

  // Replaces the list of saved checkpoints by `paths`, those of an earlier run, oldest first, so
  // that this saver deletes them in turn. Skips missing ones.
  void RecoverLastCheckpoints(const std::vector<std::string>& paths) override;
  // Returns the checkpoints that the folder's state file lists, and as the latest one the result of
  // LatestCheckpoint.
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
  // Describes the variables that do not match the checkpoint; "" if it cannot be read.
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

// Returns the variables that a Saver with these options saves, with their names in checkpoints.
// INVALID_ARGUMENT if two have the same name.
absl::StatusOr<std::vector<SavedVariable>> SavedVariables(const Graph& graph,
                                                          const SaverOptions& options);

}  // namespace sluice

#endif  // SLUICE_TRAINING_CHECKPOINT_SAVER_H_
