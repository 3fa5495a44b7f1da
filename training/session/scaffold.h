// Holds the ops that a training loop adds to the model: initialization, readiness checks,
// summaries, saver.
//
//   auto scaffold = std::make_shared<Scaffold>(ScaffoldOptions{.init_fn = load_embeddings});
//
// Finalize completes missing parts: from the graph's collections if they have them, otherwise with
// new nodes, which it adds to the collections. Nodes and names are TensorFlow's. It then finalizes
// the graph.
// Reference: tf.compat.v1.train.Scaffold.
// Thread safety: none. Lifetime: the options belong to one graph, which outlives the scaffold.
#ifndef SLUICE_TRAINING_SESSION_SCAFFOLD_H_
#define SLUICE_TRAINING_SESSION_SCAFFOLD_H_

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "executor/session/session.h"
#include "graph/ir/graph.h"
#include "training/checkpoint/model_saver.h"

namespace sluice {

class Scaffold;

// Keys of graph collections. They are TensorFlow's, so that the collections of an imported
// MetaGraphDef are found.
inline constexpr std::string_view kInitOp = "init_op";
inline constexpr std::string_view kReadyOp = "ready_op";
inline constexpr std::string_view kReadyForLocalInitOp = "ready_for_local_init_op";
inline constexpr std::string_view kLocalInitOp = "local_init_op";
inline constexpr std::string_view kSummaryOp = "summary_op";
inline constexpr std::string_view kSavers = "savers";
inline constexpr std::string_view kTableInitializers = "table_initializer";
inline constexpr std::string_view kSavedModelInitializers = "saved_model_initializers";

struct ScaffoldOptions {
  // Initializes the model. Default: initializes all global variables.
  Operation init_op;
  std::vector<Feed> init_feeds;
  // Called after init_op if the model was not restored.
  std::function<absl::Status(const Scaffold& scaffold, Session& session)> init_fn;
  // These ops check whether the model is ready. They return string vectors with the names of the
  // variables that are not initialized. By default, ready_op checks all variables, and
  // ready_for_local_init_op the global ones.
  Operation ready_op;
  Operation ready_for_local_init_op;
  // Runs in every new session, also after a restore. Default: initializes local variables and
  // tables.
  Operation local_init_op;
  std::vector<Feed> local_init_feeds;
  // A scalar string tensor with a serialized Summary message. Default: merges all summaries of the
  // graph, or stays invalid if the graph has no summaries.
  Output summary_op;
  // Default: the saver in the collection "savers". If there is none, a new sharded saver of all
  // variables, which also accepts a graph without variables.
  std::shared_ptr<ModelSaver> saver;
};

class Scaffold {
 public:
  explicit Scaffold(ScaffoldOptions options = {});
  // Copies fields that are not set in `options` from `copy_from`.
  Scaffold(const Scaffold& copy_from, ScaffoldOptions options);

  // Adds the missing parts at the first call, and finalizes the graph, so that no node can be added
  // any more. FAILED_PRECONDITION "More than one item in the collection "<key>". …" if a collection
  // is ambiguous.
  absl::Status Finalize(Graph& graph);

  Operation init_op() const { return options_.init_op; }
  const std::vector<Feed>& init_feeds() const { return options_.init_feeds; }
  // Returns a function that calls the option init_fn with this scaffold. Empty if init_fn is not
  // set.
  std::function<absl::Status(Session&)> init_fn() const;
  Operation ready_op() const { return options_.ready_op; }
  Operation ready_for_local_init_op() const { return options_.ready_for_local_init_op; }
  Operation local_init_op() const { return options_.local_init_op; }
  const std::vector<Feed>& local_init_feeds() const { return options_.local_init_feeds; }
  Output summary_op() const { return options_.summary_op; }
  const std::shared_ptr<ModelSaver>& saver() const { return options_.saver; }

 private:
  ScaffoldOptions options_;
};

// Adds an op that runs the initializers of all tables, from the collection "table_initializer".
Operation InitializeTables(Graph& graph, std::string_view name = "init_all_tables",
                           At at = At::current());
// Adds the default local_init_op of a Scaffold.
Operation DefaultLocalInitOp(Graph& graph, At at = At::current());

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_SCAFFOLD_H_
