#include "training/session/scaffold.h"

#include <utility>

#include "graph/build/group.h"
#include "graph/build/scopes.h"
#include "graph/format/proto/saver.pb.h"
#include "graph/status.h"
#include "ops/array/shaping.h"
#include "ops/builders/constant.h"
#include "ops/control/builders.h"
#include "ops/state/variable.h"
#include "training/checkpoint/saver.h"
#include "training/loop/log.h"
#include "training/summary/summary.h"

namespace sluice {
namespace {

// Returns the only entry of a collection, or an invalid handle if the collection is empty.
absl::StatusOr<Output> OnlyEntry(const Graph& graph, std::string_view key,
                                 std::string_view argument) {
  const std::vector<std::string>& entries = graph.Collection(key);
  if (entries.empty()) return Output();
  if (entries.size() > 1) {
    return absl::FailedPreconditionError(
        StrCat("More than one item in the collection \"", key,
               "\". Please indicate which one to use by passing it to the tf.Scaffold constructor "
               "as:  tf.Scaffold(",
               argument, "=item to use)"));
  }
  return graph.FindOutput(entries[0]);
}

// Returns the ops that a collection names. Skips names without a node.
std::vector<Operation> Entries(const Graph& graph, std::string_view key) {
  std::vector<Operation> entries;
  for (const std::string& name : graph.Collection(key)) {
    if (const auto found = graph.FindOutput(name); found.ok()) entries.emplace_back(*found);
  }
  return entries;
}

// Adds what TensorFlow's resources.initialize_resources adds to a graph without such resources.
Operation InitializeResources(Graph& graph, At at) { return NoOp(graph, {.name = "init"}, at); }

Output ReportUninitializedResources(Graph& graph, At at) {
  NameScope scope(graph, "report_uninitialized_resources");
  return Constant(graph, Tensor(DT_STRING, TensorShape({0})), {}, at);
}

Operation DefaultInitOp(Graph& graph) {
  const At at = At::current();
  std::vector<Operation> all = {InitializeVariables(graph), InitializeResources(graph, at)};
  for (const Operation& op : Entries(graph, kSavedModelInitializers)) all.push_back(op);
  return Group(graph, all);
}

Output DefaultReadyOp(Graph& graph) {
  const Output variables = ReportUninitializedVariables(graph);
  return Concat({variables, ReportUninitializedResources(graph, At::current())}, 0);
}

Output DefaultReadyForLocalInitOp(Graph& graph) {
  const Output variables = ReportUninitializedVariables(graph, GlobalVariables(graph));
  return Concat({variables, ReportUninitializedResources(graph, At::current())}, 0);
}

// Sets `op` from the collection if it is invalid. If the collection is empty, creates the op and
// adds it.
template <typename Make>
absl::Status FillIn(Graph& graph, std::string_view key, std::string_view argument, Operation& op,
                    Make make) {
  if (op) return absl::OkStatus();
  SLUICE_ASSIGN_OR_RETURN(const Output found, OnlyEntry(graph, key, argument));
  op = found;
  if (op) return absl::OkStatus();
  op = Operation(make(graph));
  if (op) {
    const bool is_tensor = op.node->num_outputs() > 0;
    graph.AddToCollection(key, is_tensor ? op.output(0).name() : op.name());
  }
  return absl::OkStatus();
}

// Returns the graph's saver, or a new saver of all variables, which it adds to the graph.
absl::StatusOr<std::shared_ptr<ModelSaver>> SaverOrDefault(Graph& graph) {
  const std::vector<std::string>& defs = graph.Collection(kSavers);
  if (!defs.empty()) {
    if (defs.size() > 1) {
      return absl::FailedPreconditionError(
          StrCat("More than one item in collection ", kSavers,
                 ". Please indicate which one to use by passing it to the constructor."));
    }
    pb::SaverDef def;
    SLUICE_INVALID_IF(!def.ParseFromString(defs[0]), "collection '", kSavers,
                      "': an entry is no SaverDef");
    return Saver::FromDef(def, graph);
  }
  auto saver = std::make_shared<Saver>(SaverOptions{.sharded = true, .allow_empty = true});
  SLUICE_RETURN_IF_ERROR(saver->Build(graph));
  if (!saver->saved().empty()) {
    graph.AddToCollection(kSavers, saver->saver_def().SerializeAsString());
  }
  return saver;
}

template <typename T>
void Coalesce(T& value, const T& otherwise) {
  if (!value) value = otherwise;
}

}  // namespace

Operation InitializeTables(Graph& graph, std::string_view name, At at) {
  const std::vector<Operation> tables = Entries(graph, kTableInitializers);
  return tables.empty() ? NoOp(graph, {.name = name}, at) : Group(graph, tables, name, at);
}

Operation DefaultLocalInitOp(Graph& graph, At at) {
  // Creates these ops one after the other, because their order determines their names.
  const Operation variables = InitializeLocalVariables(graph, "init", at);
  const Operation tables = InitializeTables(graph, "init_all_tables", at);
  const Operation resources = InitializeResources(graph, at);
  return Group(graph, {variables, tables, resources}, "group_deps", at);
}

Scaffold::Scaffold(ScaffoldOptions options) : options_(std::move(options)) {}

Scaffold::Scaffold(const Scaffold& copy_from, ScaffoldOptions options)
    : options_(std::move(options)) {
  const ScaffoldOptions& other = copy_from.options_;
  Coalesce(options_.init_op, other.init_op);
  if (options_.init_feeds.empty()) options_.init_feeds = other.init_feeds;
  Coalesce(options_.init_fn, other.init_fn);
  Coalesce(options_.ready_op, other.ready_op);
  Coalesce(options_.ready_for_local_init_op, other.ready_for_local_init_op);
  Coalesce(options_.local_init_op, other.local_init_op);
  if (options_.local_init_feeds.empty()) options_.local_init_feeds = other.local_init_feeds;
  Coalesce(options_.summary_op, other.summary_op);
  Coalesce(options_.saver, other.saver);
}

absl::Status Scaffold::Finalize(Graph& graph) {
  SLUICE_RETURN_IF_ERROR(FillIn(graph, kInitOp, "init_op", options_.init_op, DefaultInitOp));
  SLUICE_RETURN_IF_ERROR(FillIn(graph, kReadyOp, "ready_op", options_.ready_op, DefaultReadyOp));
  SLUICE_RETURN_IF_ERROR(FillIn(graph, kReadyForLocalInitOp, "ready_for_local_init_op",
                                options_.ready_for_local_init_op, DefaultReadyForLocalInitOp));
  SLUICE_RETURN_IF_ERROR(FillIn(graph, kLocalInitOp, "local_init_op", options_.local_init_op,
                                [](Graph& g) { return DefaultLocalInitOp(g); }));
  Operation summary = options_.summary_op;
  SLUICE_RETURN_IF_ERROR(FillIn(graph, kSummaryOp, "summary_op", summary,
                                [](Graph& g) { return summary::MergeAll(g); }));
  if (!options_.summary_op && summary) options_.summary_op = summary.output(0);
  if (!options_.saver) {
    SLUICE_ASSIGN_OR_RETURN(options_.saver, SaverOrDefault(graph));
  }
  SLUICE_RETURN_IF_ERROR(options_.saver->Build(graph));
  if (!graph.finalized()) {
    graph.Finalize();
    LogInfo("Graph was finalized.");
  }
  return graph.status();
}

std::function<absl::Status(Session&)> Scaffold::init_fn() const {
  if (!options_.init_fn) return nullptr;
  return [this](Session& session) { return options_.init_fn(*this, session); };
}

}  // namespace sluice
