#include "executor/session/session_state.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

#include "executor/memory/pool_allocator.h"
#include "executor/passes/passes.h"
#include "executor/passes/prune.h"
#include "executor/placer/placer.h"
#include "executor/plan/compile.h"
#include "executor/session/explain.h"
#include "executor/step/stalls.h"
#include "executor/trace/numerics_checker.h"
#include "executor/trace/step_stats.h"
#include "graph/function/lower.h"
#include "graph/status.h"

namespace sluice {
namespace {

// The process's pool for one purpose, while some session uses it.
std::shared_ptr<ThreadPool> SharedPool(const char* name, std::weak_ptr<ThreadPool>* shared) {
  static std::mutex* mutex = new std::mutex;
  std::lock_guard<std::mutex> lock(*mutex);
  std::shared_ptr<ThreadPool> pool = shared->lock();
  if (pool == nullptr) {
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    pool = std::make_shared<ThreadPool>(name, cores - 1);
    *shared = pool;
  }
  return pool;
}

// The caller is one of the threads.
std::shared_ptr<ThreadPool> MakePool(const char* name, int threads,
                                     std::weak_ptr<ThreadPool>* shared) {
  if (threads == 0) return SharedPool(name, shared);
  if (threads == 1) return nullptr;
  return std::make_shared<ThreadPool>(name, threads - 1);
}

std::weak_ptr<ThreadPool>& SharedIntraOp() {
  static auto* pool = new std::weak_ptr<ThreadPool>;
  return *pool;
}
std::weak_ptr<ThreadPool>& SharedInterOp() {
  static auto* pool = new std::weak_ptr<ThreadPool>;
  return *pool;
}

std::atomic<int64_t> g_last_step_id{0};

}  // namespace

SessionState::SessionState(Graph& graph, SessionOptions options)
    : graph_(graph), options_(std::move(options)) {
  if (options_.devices == nullptr) options_.devices = DeviceSet::Cpus(options_.cpu_devices);
  intra_op_ = MakePool("sluice_intra", options_.intra_op_threads, &SharedIntraOp());
  inter_op_ = MakePool("sluice_inter", options_.inter_op_threads, &SharedInterOp());
  environment_.allocator = &PoolAllocator::Global();
  for (int i = 0; i < options_.devices->size(); ++i) {
    environment_.resources.push_back(&options_.devices->device(i).resources);
  }
  environment_.intra_op = intra_op_.get();
  environment_.inter_op = inter_op_.get();
  environment_.stalls = &stalls_;
  environment_.scheduler = options_.scheduler;
  if (!options_.warn) {
    options_.warn = [](const std::string& text) {
      std::fprintf(stderr, "warning: %s\n", text.c_str());
    };
  }
  environment_.stall_warning = std::chrono::milliseconds(options_.stall_warning_ms);
  environment_.warn = options_.warn;
}

SessionState::~SessionState() = default;

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

absl::StatusOr<SessionPlan*> SessionState::PlanFor(const PlanRequest& request) {
  SLUICE_RETURN_IF_ERROR(CheckRequest(request));
  if (SessionPlan* plan = cache_.Find(request)) return plan;
  if (closed_.load()) return absl::CancelledError("Session has been closed.");
  std::lock_guard<std::mutex> lock(mutex_);
  if (SessionPlan* plan = cache_.Find(request)) return plan;
  WarnOfGrowth();
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<SessionPlan> plan, Compile(request));
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
  options_.warn(StrCat("the graph grew by ", known_nodes_ - known,
                       " nodes after its first run, from '", first->name(), "' (", first->op(), ")",
                       location.empty() ? "" : " built at ", location,
                       "; what is added in a loop makes every step compile again: build it before, "
                       "or let Graph::Finalize() refuse it"));
}

absl::StatusOr<std::unique_ptr<SessionPlan>> SessionState::Compile(const PlanRequest& request) {
  std::vector<Output> feeds;
  for (size_t i = 0; i < request.num_feeds; ++i) feeds.push_back(request.feed(i));
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<Graph> pruned,
                          Prune(feeds, request.fetches, request.targets));
  LowerOptions lower;
  for (const Operation& target : request.targets) lower.keep_names.insert(target.name());
  SLUICE_RETURN_IF_ERROR(LowerFunctions(*pruned, graph_.function_library(), lower).status());
  if (!options_.disabled_passes.contains("all")) {
    PassOptions passes;
    passes.disabled = options_.disabled_passes;
    for (const Operation& target : request.targets) passes.keep.insert(target.name());
    SLUICE_RETURN_IF_ERROR(RunPasses(*pruned, passes));
  }
  for (Node* node : pruned->nodes()) {
    auto placed = stateful_devices_.find(node->name());
    if (placed != stateful_devices_.end()) node->set_device(placed->second);
  }
  SLUICE_RETURN_IF_ERROR(Place(*pruned, *options_.devices,
                               {.allow_soft_placement = options_.allow_soft_placement,
                                .log_device_placement = options_.log_device_placement}));
  for (Node* node : pruned->nodes()) {
    if (node->IsStateful()) stateful_devices_.emplace(node->name(), node->assigned_device());
  }
  std::shared_ptr<const Graph> graph(std::move(pruned));
  CompileOptions compile;
  compile.kernel = [&](const Node& node) { return KernelFor(node, graph); };
  compile.device = [&](const Node& node) {
    for (int i = 0; i < devices().size(); ++i) {
      if (devices().device(i).name == node.assigned_device()) return i;
    }
    return 0;
  };
  compile.dynamic_loops = options_.dynamic_loops;
  compile.fuse_elementwise = !options_.disabled_passes.contains("all") &&
                             !options_.disabled_passes.contains("fuse_elementwise");
  SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<const Plan> plan, CompilePlan(graph, compile));
  return std::make_unique<SessionPlan>(std::move(plan), environment_, std::move(feeds));
}

absl::StatusOr<std::shared_ptr<Kernel>> SessionState::KernelFor(
    const Node& node, const std::shared_ptr<const Graph>& graph) {
  if (node.IsStateful()) {
    auto known = kernels_.find(node.name());
    if (known != kernels_.end()) return known->second.kernel;
  }
  Device* device = devices().Find(node.assigned_device());
  if (device == nullptr) device = &devices().device(0);
  KernelInit init(node, device->name, &device->resources);
  SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<Kernel> kernel,
                          KernelRegistry::Global().Make(init, "CPU"));
  if (node.IsStateful()) kernels_[node.name()] = {kernel, graph};
  return kernel;
}

absl::Status SessionState::RunPlan(SessionPlan& plan, absl::Span<const Tensor* const> feeds,
                                   Tensor* fetches, const RunOptions& options,
                                   RunMetadata* metadata) {
  for (size_t i = 0; i < feeds.size(); ++i) {
    SLUICE_RETURN_IF_ERROR(plan.CheckFeed(static_cast<int>(i), *feeds[i]));
  }
  Step* step = plan.Take();
  // After Take: Close cancels all steps that exist, and this one sees that it is closed.
  if (closed_.load()) {
    plan.Return(step);
    return absl::CancelledError("Session has been closed.");
  }
  if (!has_run_.load(std::memory_order_relaxed)) has_run_.store(true, std::memory_order_relaxed);
  StepArguments arguments;
  arguments.step_id = g_last_step_id.fetch_add(1, std::memory_order_relaxed) + 1;
  arguments.feeds = feeds;
  const int64_t timeout_ms =
      options.timeout_ms != 0 ? options.timeout_ms : options_.operation_timeout_ms;
  if (timeout_ms > 0) {
    arguments.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  }
  std::unique_ptr<StatsCollector> collector;
  if (options.trace && metadata != nullptr) {
    collector = std::make_unique<StatsCollector>(devices().names());
    arguments.observer = collector.get();
  }
  NumericsChecker checker(arguments.step_id, arguments.observer);
  if (options.check_numerics) arguments.observer = &checker;
  absl::Status status = RunStep(*step, arguments, options);
  if (status.ok()) {
    for (uint32_t i = 0; i < plan.plan().num_fetches; ++i) fetches[i] = std::move(step->fetch(i));
  }
  plan.Return(step);
  if (metadata != nullptr) metadata->step_id = arguments.step_id;
  if (collector != nullptr) {
    metadata->step_stats = std::make_shared<const StepStats>(collector->Take());
  }
  return status.ok() ? status : ExplainError(std::move(status), graph_);
}

absl::Status SessionState::RunStep(Step& step, const StepArguments& arguments,
                                   const RunOptions& options) {
  if (options.cancellation == nullptr) return step.Run(arguments);
  const CancellationManager::Token token = options.cancellation->NewToken();
  const absl::Status cancelled = absl::CancelledError("Run call was cancelled");
  if (!options.cancellation->Register(token, [&] { step.Cancel(cancelled); })) return cancelled;
  absl::Status status = step.Run(arguments);
  // It may have come too late for the step.
  if (!options.cancellation->Deregister(token)) step.ForgetCancellation();
  return status;
}

void SessionState::Close() {
  if (closed_.exchange(true)) return;
  std::lock_guard<std::mutex> lock(mutex_);
  cache_.ForEach([](SessionPlan& plan) {
    plan.CancelAll(
        absl::CancelledError("Step was cancelled by an explicit call to `Session::Close()`."));
  });
}

}  // namespace sluice
