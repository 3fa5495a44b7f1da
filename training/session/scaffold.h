// The ops that a training loop needs beside the model: first values, readiness, summaries, saver.
//
//   auto scaffold = std::make_shared<Scaffold>(ScaffoldOptions{.init_fn = load_embeddings});
//
// What is not given is looked up in the graph's collections, and else made, with TensorFlow's nodes
// and names, and put there. Finalize does so, and finalises the graph.
// Reference behaviour: tf.compat.v1.train.Scaffold.
// Thread safety: none. Lifetime: what is given belongs to one graph, which outlives the scaffold.
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

// Keys of collections, as MetaGraphDef has them.
inline constexpr std::string_view kInitOp = "init_op";
inline constexpr std::string_view kReadyOp = "ready_op";
inline constexpr std::string_view kReadyForLocalInitOp = "ready_for_local_init_op";
inline constexpr std::string_view kLocalInitOp = "local_init_op";
inline constexpr std::string_view kSummaryOp = "summary_op";
inline constexpr std::string_view kSavers = "savers";
inline constexpr std::string_view kTableInitializers = "table_initializer";
inline constexpr std::string_view kSavedModelInitializers = "saved_model_initializers";

struct ScaffoldOptions {
  // Initialises the model; by default all global variables.
  Operation init_op;
  std::vector<Feed> init_feeds;
  // Run after init_op, where the model was not restored.
  std::function<absl::Status(const Scaffold& scaffold, Session& session)> init_fn;
  // String vectors that list what is not initialised; by default the names of all variables, or
  // (for local init) of the global ones.
  Operation ready_op;
  Operation ready_for_local_init_op;
  // Run in each session, also a restored one; by default local variables and tables.
  Operation local_init_op;
  std::vector<Feed> local_init_feeds;
  // A string tensor: a Summary; by default all summaries of the graph, none if it has none.
  Output summary_op;
  // By default the graph's, or one of all variables: sharded, and no error without variables.
  std::shared_ptr<ModelSaver> saver;
};

class Scaffold {
 public:
  explicit Scaffold(ScaffoldOptions options = {});
  // What `options` does not give comes from `copy_from`.
  Scaffold(const Scaffold& copy_from, ScaffoldOptions options);

  // Makes what is missing, once, and finalises the graph. FAILED_PRECONDITION "More than one item
  // in the collection "<key>". …" where a collection leaves the choice.
  absl::Status Finalize(Graph& graph);

  Operation init_op() const { return options_.init_op; }
  const std::vector<Feed>& init_feeds() const { return options_.init_feeds; }
  // Bound to this scaffold; empty if none was given.
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

// Runs the initialisers of all tables: collection "table_initializer".
Operation InitializeTables(Graph& graph, std::string_view name = "init_all_tables",
                           At at = At::current());
// What Scaffold runs as local_init_op by default.
Operation DefaultLocalInitOp(Graph& graph, At at = At::current());

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_SCAFFOLD_H_
