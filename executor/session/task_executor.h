// Holds the threads, memory and stateful kernels that all steps on the devices of a task share. A
// session has one executor. A worker has one for each session whose master is another task.
//
// Thread safety: one thread at a time may call Compile, any thread the other methods.
#ifndef SLUICE_EXECUTOR_SESSION_TASK_EXECUTOR_H_
#define SLUICE_EXECUTOR_SESSION_TASK_EXECUTOR_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "executor/compiler/compile.h"
#include "executor/cpu/thread_pool.h"
#include "executor/device/device_set.h"
#include "executor/kernel/kernel.h"
#include "executor/session/session.h"
#include "executor/step/step.h"
#include "executor/wait/stalls.h"

namespace sluice {

class LocalStep;

class TaskExecutor {
 public:
  // If `options.devices` is null, makes CPU devices for it.
  explicit TaskExecutor(SessionOptions options);
  ~TaskExecutor();

  // Compiles a graph whose nodes are placed on devices of this task. `feeds` are the fed tensors.
  // The step's CheckFeed compares the type and shape of each value with them.
  absl::StatusOr<std::unique_ptr<LocalStep>> Compile(std::shared_ptr<const Graph> graph,
                                                     std::vector<Output> feeds);
  // Returns the options for compiling plans of `graph` with the pass options `passes`.
  CompileOptions CompileOptionsFor(std::shared_ptr<const Graph> graph, PassOptions passes);

  // Makes later Runs return CANCELLED. The caller cancels the Runs in progress.
  void Close() { closed_.store(true); }
  // After Close, is_open returns false and CheckOpen returns CANCELLED.
  bool is_open() const { return !closed_.load(); }
  absl::Status CheckOpen() const;
  // Returns the timeout of a Run: that of its options if they set one, otherwise that of the
  // session. 0: none.
  int64_t TimeoutMs(const RunOptions& run) const {
    return run.timeout_ms != 0 ? run.timeout_ms : options_.operation_timeout_ms;
  }
  // Returns a new step id, which is unique in the process.
  static int64_t NextStepId();

  const SessionOptions& options() const { return options_; }
  DeviceSet& devices() const { return *options_.devices; }
  Stalls& stalls() { return stalls_; }
  const StepEnvironment& environment() const { return environment_; }

 private:
  // Counts the executors of the process. When the last one is destroyed, the process returns free
  // memory to the system.
  struct Counted {
    Counted();
    ~Counted();
  };
  absl::StatusOr<std::shared_ptr<Kernel>> KernelFor(const Node& node,
                                                    const std::shared_ptr<const Graph>& graph);

  const Counted counted_;  // destroyed last, after all tensors
  SessionOptions options_;
  std::shared_ptr<const struct Job> job_;
  std::shared_ptr<ThreadPool> intra_op_;  // null: kernels run their loops on the calling thread
  std::shared_ptr<ThreadPool> inter_op_;
  Stalls stalls_;
  StepEnvironment environment_;
  std::atomic<bool> closed_{false};
  struct StatefulKernel {
    std::shared_ptr<Kernel> kernel;
    std::shared_ptr<const Graph> graph;  // of the node from which the kernel was made
  };
  std::unordered_map<std::string, StatefulKernel> kernels_;  // by node name; used by Compile only
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_TASK_EXECUTOR_H_
