#include "executor/session/session_state.h"

#include <chrono>
#include <utility>

#include "executor/compiler/pass_table.h"
#include "executor/session/cluster_runner.h"
#include "executor/session/local_runner.h"
#include "executor/session/remote_runner.h"
#include "executor/trace/metrics.h"
#include "executor/wait/cancellable_files.h"
#include "executor/wait/out_of_memory.h"
#include "graph/status.h"

namespace sluice {
namespace {

std::unique_ptr<Runner> MakeRunner(Graph& graph, TaskExecutor& executor) {
  const SessionOptions& options = executor.options();
  if (options.master != nullptr) {
    return std::make_unique<RemoteRunner>(graph, executor, *options.master);
  }
  if (options.remote_tasks != nullptr) {
    return std::make_unique<ClusterRunner>(graph, executor, *options.remote_tasks);
  }
  return std::make_unique<LocalRunner>(graph, executor);
}

}  // namespace

SessionState::SessionState(Graph& graph, SessionOptions options)
    : graph_(graph), executor_(std::move(options)), runner_(MakeRunner(graph, executor_)) {}
SessionState::~SessionState() = default;

absl::StatusOr<PreparedStep*> SessionState::StepFor(const StepRequest& request, FeedShapes shapes) {
  SLUICE_RETURN_IF_ERROR(CheckRequest(graph_, request));
  if (PreparedStep* step = cache_.Find(request)) return step;
  SLUICE_RETURN_IF_ERROR(executor_.CheckOpen());
  ScopedLock preparing(&prepare_mutex_);
  if (PreparedStep* step = cache_.Find(request)) return step;
  // Files with constant names are read now, by the folding of constants.
  CancellationManager none;
  const CancellableFiles files(
      request.cancellation != nullptr ? *request.cancellation : none,
      CancellationManager::DeadlineAfter(executor_.TimeoutMs({.timeout_ms = request.timeout_ms})));
  static MetricCounter plans("sluice_plans_total");
  plans.Add();
  SLUICE_RETURN_IF_ERROR(CheckDisabledPasses(options().disabled_passes));
  ReaderLock reading(&graph_mutex_);
  WarnOfGrowth();
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<PreparedStep> step,
                          OrOutOfMemory([&] { return runner_->Prepare(request, shapes); }));
  // If the session was closed meanwhile, the step's first Run returns at once.
  ScopedLock lock(&cache_mutex_);
  return cache_.Insert(request, std::move(step));
}

absl::Status SessionState::RunStep(PreparedStep& step, const StepCall& call) {
  if (call.metadata != nullptr) *call.metadata = {};  // nothing of an earlier step
  for (size_t i = 0; i < call.feeds.size(); ++i) {
    SLUICE_RETURN_IF_ERROR(step.CheckFeed(static_cast<int>(i), *call.feeds[i]));
  }
  if (!has_run_.load(std::memory_order_relaxed)) has_run_.store(true, std::memory_order_relaxed);
  absl::Status status = step.Run(call);
  return status.ok() ? status : Explain(std::move(status));
}

absl::Status SessionState::Explain(absl::Status error) const {
  ReaderLock reading(&graph_mutex_);
  return runner_->Explain(std::move(error));
}

void SessionState::WarnOfGrowth() {
  const int known = std::exchange(known_nodes_, graph_.num_node_ids());
  if (!has_run_.load() || known == 0 || known == known_nodes_) return;
  // Warns at growths 1, 2, 4, 8, …
  ++growths_;
  if ((growths_ & (growths_ - 1)) != 0) return;
  const Node* first = nullptr;
  for (int id = known; id < known_nodes_ && first == nullptr; ++id) first = graph_.node(id);
  if (first == nullptr) return;
  const std::string location = first->location();
  options().warn(
      StrCat("the graph grew by ", known_nodes_ - known, " nodes after its first run, from '",
             first->name(), "' (", first->op(), ")", location.empty() ? "" : " built at ", location,
             "; what is added in a loop makes every step compile again: build it before, "
             "or let Graph::Finalize() refuse it"));
}

absl::StatusOr<NamedRequest> SessionState::FindByName(absl::Span<const std::string> feeds,
                                                      absl::Span<const std::string> fetches,
                                                      absl::Span<const std::string> targets) const {
  ReaderLock reading(&graph_mutex_);
  return sluice::FindByName(graph_, feeds, fetches, targets);
}

absl::Status SessionState::Extend(absl::FunctionRef<absl::Status(Graph&)> change) {
  WriterLock changing(&graph_mutex_);
  return change(graph_);
}

absl::Status SessionState::WhilePreparing(absl::FunctionRef<absl::Status()> f) {
  ScopedLock preparing(&prepare_mutex_);
  ReaderLock reading(&graph_mutex_);
  return f();
}

void SessionState::Close() {
  if (closed_.exchange(true)) return;
  executor_.Close();
  runner_->Close();
  ScopedLock lock(&cache_mutex_);
  cache_.ForEach([](PreparedStep& step) { step.CancelRuns(ClosedError()); });
}

}  // namespace sluice
