#include "executor/session/task_executor.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_join.h"
#include "executor/device/pool_allocator.h"
#include "executor/plan/compile.h"
#include "executor/plan/op_kind.h"
#include "executor/session/declared_variables.h"
#include "executor/trace/numerics_checker.h"
#include "executor/trace/step_stats.h"
#include "executor/wait/cancellation.h"
#include "executor/wait/rendezvous.h"
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

}  // namespace

TaskExecutor::TaskExecutor(SessionOptions options) : options_(std::move(options)) {
  if (options_.devices == nullptr) options_.devices = DeviceSet::Cpus(options_.cpu_devices);
  intra_op_ = MakePool("sluice_intra", options_.intra_op_threads, &SharedIntraOp());
  inter_op_ = MakePool("sluice_inter", options_.inter_op_threads, &SharedInterOp());
  environment_.allocator = &PoolAllocator::Global();
  for (int i = 0; i < options_.devices->size(); ++i) {
    environment_.resources.push_back(&options_.devices->device(i).resources);
  }
  environment_.intra_op = intra_op_.get();
  environment_.may_leave_intra_op = options_.intra_op_threads == 0 && intra_op_->num_threads() > 0;
  environment_.inter_op = inter_op_.get();
  environment_.stalls = &stalls_;
  environment_.scheduler = options_.scheduler;
  if (!options_.warn) {
    options_.warn = [](const std::string& text) {
      std::fprintf(stderr, "warning: %s\n", text.c_str());
    };
  }
  static std::atomic<int> unnamed{0};
  job_ = std::make_shared<Job>(
      Job{options_.job.empty() ? StrCat("session ", ++unnamed) : options_.job});
  environment_.stall_warning = std::chrono::milliseconds(options_.stall_warning_ms);
  environment_.warn = options_.warn;
}

TaskExecutor::~TaskExecutor() = default;

bool RunsPass(const SessionOptions& options, const std::string& pass) {
  return !options.disabled_passes.contains("all") && !options.disabled_passes.contains(pass);
}

const std::set<std::string>& PassNames() {
  static const auto& names = *new std::set<std::string>{"accumulate_sums",  "all",
                                                        "choose_layout",    "common_subexpressions",
                                                        "defer_adam",       "fold_constants",
                                                        "fold_transposes",  "fuse_attention",
                                                        "fuse_elementwise", "join_pads",
                                                        "narrow_products",  "pack_operands",
                                                        "rematerialize",    "simplify",
                                                        "tile_updates",     "unused_nodes"};
  return names;
}

absl::Status CheckPasses(const SessionOptions& options) {
  for (const std::string& pass : options.disabled_passes) {
    if (PassNames().contains(pass)) continue;
    return InvalidArgument("SessionOptions::disabled_passes: no pass '", pass, "'; there are ",
                           absl::StrJoin(PassNames(), ", "));
  }
  return absl::OkStatus();
}

int64_t TaskExecutor::NextStepId() {
  static std::atomic<int64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

absl::StatusOr<std::unique_ptr<SessionPlan>> TaskExecutor::Compile(
    std::shared_ptr<const Graph> graph, std::vector<Output> feeds) {
  SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<const Plan> plan, MakePlan(std::move(graph)));
  return PlanOf(std::move(plan), std::move(feeds));
}

std::unique_ptr<SessionPlan> TaskExecutor::PlanOf(std::shared_ptr<const Plan> plan,
                                                  std::vector<Output> feeds) {
  return std::make_unique<SessionPlan>(std::move(plan), environment_, std::move(feeds));
}

absl::StatusOr<std::shared_ptr<const Plan>> TaskExecutor::MakePlan(
    std::shared_ptr<const Graph> graph) {
  CompileOptions compile;
  compile.kernel = [&](const Node& node) { return KernelFor(node, graph); };
  compile.device = [&](const Node& node) {
    for (int i = 0; i < devices().size(); ++i) {
      if (devices().device(i).name == node.assigned_device()) return i;
    }
    return 0;
  };
  compile.dynamic_loops = options_.dynamic_loops;
  compile.fuse_elementwise = RunsPass(options_, "fuse_elementwise");
  compile.accumulate_sums = RunsPass(options_, "accumulate_sums");
  compile.tile_updates = RunsPass(options_, "tile_updates");
  return CompilePlan(graph, compile);
}

absl::StatusOr<std::shared_ptr<Kernel>> TaskExecutor::KernelFor(
    const Node& node, const std::shared_ptr<const Graph>& graph) {
  // Send and Recv are named plan by plan.
  const bool is_shared = node.IsStateful() && !RunsWhenDead(node);
  if (is_shared) {
    auto known = kernels_.find(node.name());
    if (known != kernels_.end()) return known->second.kernel;
  }
  Device* device = devices().Find(node.assigned_device());
  if (device == nullptr) device = &devices().device(0);
  KernelInit init(node, device->name, &device->resources);
  SLUICE_RETURN_IF_ERROR(DeclareVariable(init, job_));
  SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<Kernel> kernel,
                          KernelRegistry::Global().Make(init, "CPU"));
  if (is_shared) kernels_[node.name()] = {kernel, graph};
  return kernel;
}

absl::Status TaskExecutor::Run(SessionPlan& plan, absl::Span<const Tensor* const> feeds,
                               Tensor* fetches, const StepIdentity& identity,
                               const RunOptions& options, RunMetadata* metadata) {
  Step* step = plan.Take();
  // After Take: who closes cancels all steps that exist, and this one sees that it is closed.
  if (closed_.load()) {
    plan.Return(step);
    return absl::CancelledError("Session has been closed.");
  }
  StepArguments arguments;
  arguments.step_id = identity.step_id;
  arguments.rendezvous = identity.rendezvous;
  std::optional<LocalRendezvous> own;
  if (identity.rendezvous == nullptr && plan.sends_to_itself()) {
    arguments.rendezvous = &own.emplace();
  }
  arguments.feeds = feeds;
  const int64_t timeout_ms =
      options.timeout_ms != 0 ? options.timeout_ms : options_.operation_timeout_ms;
  if (options.cancellation != nullptr) arguments.deadline = options.cancellation->deadline();
  if (timeout_ms > 0) {
    arguments.deadline = std::min(arguments.deadline, std::chrono::steady_clock::now() +
                                                          std::chrono::milliseconds(timeout_ms));
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
  return status;
}

absl::Status TaskExecutor::RunStep(Step& step, const StepArguments& arguments,
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

}  // namespace sluice
