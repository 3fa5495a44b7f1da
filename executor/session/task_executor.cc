#include "executor/session/task_executor.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <thread>
#include <utility>

#include "executor/device/declared_variables.h"
#include "executor/device/pool_allocator.h"
#include "executor/device/unused_memory.h"
#include "executor/plan/op_kind.h"
#include "executor/session/local_step.h"
#include "graph/mutex.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Returns the process's pool with this name and number of threads, which lives while a session uses
// it. The caller counts as one of the threads. 0 means one thread per core. Returns null for 1.
std::shared_ptr<ThreadPool> MakePool(const char* name, int threads) {
  if (threads == 1) return nullptr;
  if (threads == 0) threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  static auto* const mutex = new Mutex;
  static auto* const pools = new std::map<std::pair<std::string, int>, std::weak_ptr<ThreadPool>>;
  ScopedLock lock(mutex);
  std::weak_ptr<ThreadPool>& shared = (*pools)[{name, threads}];
  std::shared_ptr<ThreadPool> pool = shared.lock();
  if (pool == nullptr) {
    pool = std::make_shared<ThreadPool>(name, threads - 1);
    shared = pool;
  }
  return pool;
}

std::atomic<int> num_executors{0};

}  // namespace

TaskExecutor::Counted::Counted() { num_executors.fetch_add(1); }
TaskExecutor::Counted::~Counted() {
  if (num_executors.fetch_sub(1) == 1) ReturnFreeMemory();
}

TaskExecutor::TaskExecutor(SessionOptions options) : options_(std::move(options)) {
  if (options_.devices == nullptr) options_.devices = DeviceSet::Cpus(options_.cpu_devices);
  intra_op_ = MakePool("sluice_intra", options_.intra_op_threads);
  inter_op_ = MakePool("sluice_inter", options_.inter_op_threads);
  environment_.allocator = &PoolAllocator::Global();
  if (const auto& memory = options_.devices->memory(); memory != nullptr) {
    environment_.allocator = memory.get();
    environment_.session = memory->session();
  }
  for (int i = 0; i < options_.devices->size(); ++i) {
    environment_.resources.push_back(options_.devices->device(i).resources.get());
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

absl::Status TaskExecutor::CheckOpen() const {
  return is_open() ? absl::OkStatus() : absl::CancelledError("Session has been closed.");
}

int64_t TaskExecutor::NextStepId() {
  static std::atomic<int64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

absl::StatusOr<std::unique_ptr<LocalStep>> TaskExecutor::Compile(std::shared_ptr<const Graph> graph,
                                                                 std::vector<Output> feeds) {
  const CompileOptions options = CompileOptionsFor(
      graph, PassOptions{.disabled = options_.disabled_passes, .memory = environment_.allocator});
  SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<const Plan> plan, CompilePlan(graph, options));
  return std::make_unique<LocalStep>(*this, std::move(plan), std::move(feeds));
}

CompileOptions TaskExecutor::CompileOptionsFor(std::shared_ptr<const Graph> graph,
                                               PassOptions passes) {
  CompileOptions compile;
  compile.kernel = [this, graph = std::move(graph)](const Node& node) {
    return KernelFor(node, graph);
  };
  compile.device = [this](const Node& node) {
    for (int i = 0; i < devices().size(); ++i) {
      if (devices().device(i).name == node.assigned_device()) return i;
    }
    return 0;
  };
  compile.passes = std::move(passes);
  compile.dynamic_loops = options_.dynamic_loops;
  return compile;
}

absl::StatusOr<std::shared_ptr<Kernel>> TaskExecutor::KernelFor(
    const Node& node, const std::shared_ptr<const Graph>& graph) {
  // Names of Sends and Recvs are only unique within a plan.
  const bool is_shared = node.IsStateful() && !node.traits().runs_when_dead;
  if (is_shared) {
    auto known = kernels_.find(node.name());
    if (known != kernels_.end()) return known->second.kernel;
  }
  Device* device = devices().Find(node.assigned_device());
  if (device == nullptr) device = &devices().device(0);
  KernelInit init(node, device->name, device->resources.get());
  SLUICE_RETURN_IF_ERROR(DeclareVariable(init, job_));
  SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<Kernel> kernel,
                          KernelRegistry::Global().Make(init, "CPU"));
  if (is_shared) kernels_[node.name()] = {kernel, graph};
  return kernel;
}

}  // namespace sluice
