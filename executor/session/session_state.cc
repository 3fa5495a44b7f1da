#include "executor/session/session_state.h"

#include <limits>
#include <map>
#include <set>
#include <utility>

#include "executor/partition/partition.h"
#include "executor/passes/defer_adam.h"
#include "executor/passes/late_reads.h"
#include "executor/passes/passes.h"
#include "executor/passes/prune.h"
#include "executor/passes/rematerialize.h"
#include "executor/placer/placer.h"
#include "executor/plan/memory_plan.h"
#include "executor/session/explain.h"
#include "executor/session/remote_master.h"
#include "executor/session/remote_tasks.h"
#include "executor/session/step_parts.h"
#include "executor/trace/metrics.h"
#include "executor/wait/linked_cancellation.h"
#include "graph/function/lower.h"
#include "graph/status.h"

namespace sluice {
namespace {

absl::StatusOr<Output> FindFeed(const Graph& graph, const std::string& name) {
  absl::StatusOr<Output> output = graph.FindOutput(name);
  if (output.ok() && output->index >= 0) return output;
  return absl::NotFoundError(StrCat("FeedInputs: unable to find feed output ", name));
}

absl::StatusOr<Output> FindFetch(const Graph& graph, const std::string& name) {
  const Node* node = graph.Find(std::string_view(name).substr(0, name.rfind(':')));
  if (node == nullptr) node = graph.Find(name);
  if (node == nullptr) {
    return absl::NotFoundError(StrCat("FetchOutputs node ", name, ": not found"));
  }
  absl::StatusOr<Output> output = graph.FindOutput(name);
  if (output.ok()) return output;
  if (node->num_outputs() == 0) return Output(const_cast<Node*>(node), 0);  // refused later
  return InvalidArgument("FetchOutputs ", name, ": output index too large, must be < ",
                         node->num_outputs());
}

std::set<std::string> TasksOf(const Graph& graph) {
  std::set<std::string> tasks;
  for (const Node* node : graph.nodes()) tasks.emplace(TaskOf(node->assigned_device()));
  return tasks;
}

}  // namespace

SessionState::SessionState(Graph& graph, SessionOptions options)
    : graph_(graph), executor_(std::move(options)), all_devices_(devices().Describe()) {
  if (const auto& remote = executor_.options().remote_tasks) {
    const std::vector<DeviceInfo>& theirs = remote->devices();
    all_devices_.insert(all_devices_.end(), theirs.begin(), theirs.end());
  }
}

SessionState::~SessionState() = default;

absl::Status SessionState::Extend(absl::FunctionRef<absl::Status(Graph&)> change) {
  std::unique_lock<std::shared_mutex> lock(graph_mutex_);
  return change(graph_);
}

absl::StatusOr<NamedRequest> SessionState::Resolve(absl::Span<const std::string> feeds,
                                                   absl::Span<const std::string> fetches,
                                                   absl::Span<const std::string> targets) const {
  const auto lock = LockGraph();
  SLUICE_RETURN_IF_ERROR(graph_.status());
  NamedRequest request;
  for (const std::string& name : feeds) {
    SLUICE_ASSIGN_OR_RETURN(Output output, FindFeed(graph_, name));
    request.feeds.push_back(output);
  }
  for (const std::string& name : fetches) {
    SLUICE_ASSIGN_OR_RETURN(Output output, FindFetch(graph_, name));
    request.fetches.push_back(output);
  }
  std::string missing;
  for (const std::string& name : targets) {
    Node* node = graph_.Find(name);
    if (node == nullptr) StrAppend(&missing, missing.empty() ? "" : ", ", name);
    request.targets.push_back(Operation(node));
  }
  if (missing.empty()) return request;
  return absl::NotFoundError(StrCat("PruneForTargets: Some target nodes not found: ", missing));
}

absl::Status SessionState::CheckRequest(const PlanRequest& request) const {
  SLUICE_RETURN_IF_ERROR(graph_.status());
  const auto check = [&](const Node* node, const char* what) -> absl::Status {
    if (node == nullptr) return InvalidArgument("a ", what, " is an invalid handle");
    if (node->graph() == &graph_) return absl::OkStatus();
    return InvalidArgument(what, " '", node->name(), "' is of another graph than the session's");
  };
  const auto check_index = [&](const Output& t, const char* text) -> absl::Status {
    if (t.index >= 0 && t.index < t.node->num_outputs()) return absl::OkStatus();
    if (t.node->num_outputs() == 0) {
      return InvalidArgument("Tried to fetch data for '", t.name(),
                             "', which produces no output.  To run to a node but not fetch any "
                             "data, pass '",
                             t.name(),
                             "' as an argument to the 'target_node_names' argument of "
                             "the Session::Run API.");
    }
    return InvalidArgument(text, " ", t.name(), ": output index too large, must be < ",
                           t.node->num_outputs());
  };
  for (size_t i = 0; i < request.num_feeds; ++i) {
    SLUICE_RETURN_IF_ERROR(check(request.feed(i).node, "feed"));
    SLUICE_RETURN_IF_ERROR(check_index(request.feed(i), "FeedInputs"));
  }
  for (const Output& fetch : request.fetches) {
    SLUICE_RETURN_IF_ERROR(check(fetch.node, "fetch"));
    SLUICE_RETURN_IF_ERROR(check_index(fetch, "FetchOutputs"));
  }
  for (const Operation& target : request.targets) {
    SLUICE_RETURN_IF_ERROR(check(target.node, "target"));
  }
  return absl::OkStatus();
}

absl::StatusOr<SessionPlan*> SessionState::PlanFor(const PlanRequest& request,
                                                   ShapesOfFeeds shapes) {
  SLUICE_RETURN_IF_ERROR(CheckRequest(request));
  if (SessionPlan* plan = cache_.Find(request)) return plan;
  if (executor_.is_closed()) return absl::CancelledError("Session has been closed.");
  std::lock_guard<std::mutex> compiling(compile_mutex_);
  if (SessionPlan* plan = cache_.Find(request)) return plan;
  const auto graph_lock = LockGraph();
  WarnOfGrowth();
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<SessionPlan> plan, Compile(request, shapes));
  // Where the session was closed meanwhile, the step ends when it begins.
  std::lock_guard<std::mutex> lock(mutex_);
  return cache_.Insert(request, std::move(plan));
}

void SessionState::WarnOfGrowth() {
  const int known = std::exchange(known_nodes_, graph_.num_node_ids());
  if (!has_run_.load() || known == 0 || known == known_nodes_) return;
  // At the first time, and then ever more rarely.
  ++growths_;
  if ((growths_ & (growths_ - 1)) != 0) return;
  const Node* first = nullptr;
  for (int id = known; id < known_nodes_ && first == nullptr; ++id) first = graph_.node(id);
  if (first == nullptr) return;
  const std::string location = first->location();
  executor_.options().warn(
      StrCat("the graph grew by ", known_nodes_ - known, " nodes after its first run, from '",
             first->name(), "' (", first->op(), ")", location.empty() ? "" : " built at ", location,
             "; what is added in a loop makes every step compile again: build it before, "
             "or let Graph::Finalize() refuse it"));
}

absl::StatusOr<std::unique_ptr<Graph>> SessionState::Rewrite(const PlanRequest& request) {
  std::vector<Output> feeds;
  for (size_t i = 0; i < request.num_feeds; ++i) feeds.push_back(request.feed(i));
  PruneOptions prune;
  if (request.is_partial) prune.client_device = devices().device(0).name;
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<Graph> pruned,
                          Prune(feeds, request.fetches, request.targets, prune));
  LowerOptions lower;
  for (const Operation& target : request.targets) lower.keep_names.insert(target.name());
  pruned->function_library() = graph_.function_library();  // for kernels that call functions
  SLUICE_RETURN_IF_ERROR(LowerFunctions(*pruned, graph_.function_library(), lower).status());
  const PassOptions passes = PassesFor(request);
  if (passes.disabled.contains("all")) return pruned;
  SLUICE_RETURN_IF_ERROR(RunPasses(*pruned, passes));
  return pruned;
}

PassOptions SessionState::PassesFor(const PlanRequest& request) const {
  PassOptions passes;
  passes.disabled = executor_.options().disabled_passes;
  for (const Operation& target : request.targets) passes.keep.insert(target.name());
  return passes;
}

absl::Status SessionState::PlaceGraph(Graph& graph) {
  for (Node* node : graph.nodes()) {
    auto placed = stateful_devices_.find(node->name());
    if (placed != stateful_devices_.end()) node->set_device(placed->second);
  }
  SLUICE_RETURN_IF_ERROR(Place(graph, all_devices_,
                               {.allow_soft_placement = executor_.options().allow_soft_placement,
                                .log_device_placement = executor_.options().log_device_placement}));
  for (Node* node : graph.nodes()) {
    if (node->IsStateful()) stateful_devices_.emplace(node->name(), node->assigned_device());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<SessionPlan>> SessionState::CompileForMaster(
    const PlanRequest& request, std::vector<Output> feeds) {
  SLUICE_RETURN_IF_ERROR(options().master->Update(graph_));
  auto names = std::make_unique<SessionPlan::Names>();
  for (const Output& feed : feeds) names->feeds.push_back(feed.name());
  for (const Output& fetch : request.fetches) names->fetches.push_back(fetch.name());
  for (const Operation& target : request.targets) names->targets.push_back(target.name());
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<SessionPlan> plan,
                          executor_.Compile(std::make_shared<Graph>(), std::move(feeds)));
  plan->set_names(std::move(names));
  return plan;
}

absl::StatusOr<std::unique_ptr<SessionPlan>> SessionState::Compile(const PlanRequest& request,
                                                                   ShapesOfFeeds shapes) {
  static MetricCounter plans("sluice_plans_total");
  plans.Add();
  SLUICE_RETURN_IF_ERROR(CheckPasses(options()));
  if (options().master != nullptr) {
    std::vector<Output> fed;
    for (size_t i = 0; i < request.num_feeds; ++i) fed.push_back(request.feed(i));
    return CompileForMaster(request, std::move(fed));
  }
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<Graph> graph, Rewrite(request));
  SLUICE_RETURN_IF_ERROR(PlaceGraph(*graph));
  SLUICE_RETURN_IF_ERROR(ReadVariablesLate(*graph).status());
  const PassOptions passes = PassesFor(request);
  if (RunsPass(executor_.options(), "defer_adam")) {
    SLUICE_RETURN_IF_ERROR(DeferAdam(*graph, passes.keep).status());
  }
  std::vector<Output> feeds;
  for (size_t i = 0; i < request.num_feeds; ++i) feeds.push_back(request.feed(i));
  if (executor_.options().remote_tasks != nullptr) {
    const std::string_view here = TaskOf(all_devices_[0].name);
    for (const Node* node : graph->nodes()) {
      if (TaskOf(node->assigned_device()) == here) continue;
      auto plan = CompileParts(*graph, std::move(feeds));
      if (!plan.ok() && closing_.IsCancelled()) return ClosedError();
      return plan;
    }
  }
  const std::shared_ptr<Graph> whole = std::move(graph);
  // What a client feeds between its fetches must not become part of what it waits for.
  if (options().memory_limit_bytes > 0 && !request.is_partial) {
    SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<const Plan> plan,
                            FitIntoMemory(whole, passes, shapes()));
    return executor_.PlanOf(std::move(plan), std::move(feeds));
  }
  return executor_.Compile(whole, std::move(feeds));
}

absl::StatusOr<std::shared_ptr<const Plan>> SessionState::FitIntoMemory(
    const std::shared_ptr<Graph>& graph, const PassOptions& passes,
    const std::vector<TensorShape>& feeds) {
  const int64_t limit = options().memory_limit_bytes;
  const auto plan = [&]() -> absl::StatusOr<PlannedStep> {
    PlannedStep step;
    SLUICE_ASSIGN_OR_RETURN(step.plan, executor_.MakePlan(graph));
    step.memory = MemoryOf(*step.plan, feeds);
    return step;
  };
  const bool may_copy = RunsPass(options(), "rematerialize");
  SLUICE_ASSIGN_OR_RETURN(
      const PlannedStep step,
      Rematerialize(*graph, passes, may_copy ? limit : std::numeric_limits<int64_t>::max(), plan));
  if (step.memory.peak_bytes > limit && !std::exchange(warned_of_memory_, true)) {
    options().warn(StrCat("a step is planned to need ", step.memory.peak_bytes,
                          " bytes, more than the memory limit of ", limit, "; ",
                          step.memory.ToString()));
  }
  return step.plan;
}

absl::StatusOr<std::unique_ptr<SessionPlan>> SessionState::CompileParts(const Graph& graph,
                                                                        std::vector<Output> feeds) {
  std::map<std::string, uint64_t> incarnations;
  for (const DeviceInfo& info : devices().Describe()) incarnations[info.name] = info.incarnation;
  for (const std::string& task : TasksOf(graph)) {
    if (task == TaskOf(all_devices_[0].name)) continue;
    SLUICE_ASSIGN_OR_RETURN(const std::vector<DeviceInfo> joined,
                            executor_.options().remote_tasks->Join(task, closing_));
    for (const DeviceInfo& info : joined) incarnations[info.name] = info.incarnation;
  }
  const auto incarnation = [&](const std::string& device) { return incarnations[device]; };
  using Parts = std::map<std::string, Part>;
  SLUICE_ASSIGN_OR_RETURN(Parts parts, PartitionByTask(graph, incarnation));
  auto distribution = std::make_unique<SessionPlan::Distribution>();
  std::shared_ptr<const Graph> local = std::make_shared<Graph>();
  for (auto& [task, part] : parts) {
    distribution->num_fetches += part.fetches.size();
    if (task == TaskOf(all_devices_[0].name)) {
      distribution->has_local = true;
      distribution->local_feeds = std::move(part.feeds);
      distribution->local_fetches = std::move(part.fetches);
      local = std::move(part.graph);
      continue;
    }
    SessionPlan::RemotePart remote{task, "", std::move(part.feeds), std::move(part.fetches),
                                   std::move(part.graph)};
    SLUICE_ASSIGN_OR_RETURN(
        remote.handle, executor_.options().remote_tasks->Register(task, *remote.graph, closing_));
    distribution->remote.push_back(std::move(remote));
  }
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<SessionPlan> plan,
                          executor_.Compile(std::move(local), std::move(feeds)));
  plan->set_distribution(std::move(distribution));
  return plan;
}

absl::Status SessionState::PlaceAll() {
  if (options().master != nullptr) return options().master->Update(graph_);  // which places
  return Place(graph_, all_devices_,
               {.allow_soft_placement = executor_.options().allow_soft_placement});
}

absl::Status SessionState::RunPlan(SessionPlan& plan, absl::Span<const Tensor* const> feeds,
                                   Tensor* fetches, const RunOptions& options,
                                   RunMetadata* metadata, Rendezvous* rendezvous) {
  for (size_t i = 0; i < feeds.size(); ++i) {
    SLUICE_RETURN_IF_ERROR(plan.CheckFeed(static_cast<int>(i), *feeds[i]));
  }
  if (!has_run_.load(std::memory_order_relaxed)) has_run_.store(true, std::memory_order_relaxed);
  if (plan.names() != nullptr) return RunOnMaster(plan, feeds, fetches, options, metadata);
  if (metadata != nullptr && options.output_partition_graphs) {
    const SessionPlan::Distribution* const parts = plan.distribution();
    if (parts == nullptr || parts->has_local) metadata->partition_graphs = {plan.plan().graph};
    if (parts != nullptr) {
      for (const auto& part : parts->remote) {
        metadata->partition_graphs.push_back(part.graph);
      }
    }
  }
  absl::Status status;
  if (plan.distribution() != nullptr) {
    StepParts step(executor_, *executor_.options().remote_tasks, plan, closing_);
    status = step.Run(feeds, fetches, options, metadata, rendezvous);
  } else {
    status = executor_.Run(plan, feeds, fetches, {TaskExecutor::NextStepId(), rendezvous}, options,
                           metadata);
  }
  if (status.ok()) return status;
  if (absl::IsResourceExhausted(status) && plan.distribution() == nullptr) {
    std::vector<TensorShape> shapes;
    for (const Tensor* feed : feeds) shapes.push_back(feed->shape());
    status = AnnotateAfter(status, StrCat("\n", MemoryOf(plan.plan(), shapes).ToString()));
  }
  const auto lock = LockGraph();
  return ExplainError(std::move(status), graph_);
}

absl::Status SessionState::OnMaster(
    CancellationManager* cancellation,
    absl::FunctionRef<absl::Status(RemoteMaster&, CancellationManager&)> call) {
  CancellationManager of_call(&closing_);
  absl::Status status;
  {
    const LinkedCancellation caller(cancellation, of_call);
    status = call(*options().master, of_call);
  }
  if (closing_.IsCancelled() && absl::IsCancelled(status)) {
    return ClosedError();
  }
  if (status.ok()) return status;
  const auto lock = LockGraph();
  return AddLocation(std::move(status), graph_);
}

absl::StatusOr<std::string> SessionState::SetUpPartialRun(const RemoteMaster::Names& names) {
  std::lock_guard<std::mutex> compiling(compile_mutex_);
  const auto graph_lock = LockGraph();
  SLUICE_RETURN_IF_ERROR(options().master->Update(graph_));
  return options().master->SetUpPartialRun(names);
}

absl::Status SessionState::RunOnMaster(const SessionPlan& plan,
                                       absl::Span<const Tensor* const> feeds, Tensor* fetches,
                                       const RunOptions& options, RunMetadata* metadata) {
  if (closed_.load()) return absl::CancelledError("Session has been closed.");
  RunOptions run = options;
  if (run.timeout_ms == 0) run.timeout_ms = this->options().operation_timeout_ms;
  return OnMaster(options.cancellation, [&](RemoteMaster& master, CancellationManager& cancel) {
    run.cancellation = &cancel;
    const Stalls::Entry entry =
        stalls().Open({.op = "RunStep", .resource = StrCat("the master at ", master.target())});
    absl::Status status = master.Run(*plan.names(), feeds, fetches, run, metadata);
    stalls().Close(entry);
    return status;
  });
}

void SessionState::Close() {
  if (closed_.exchange(true)) return;
  executor_.Close();
  closing_.StartCancel();
  if (options().master != nullptr) options().master->Close().IgnoreError();
  std::lock_guard<std::mutex> lock(mutex_);
  cache_.ForEach([](SessionPlan& plan) { plan.CancelAll(ClosedError()); });
}

}  // namespace sluice
