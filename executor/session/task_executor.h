// Runs plans on the devices of this task: threads, memory, and the stateful kernels that plans have
// in common. A session has one; so has what a worker keeps for a session of another task's master.
//
// Thread safety: Run and Close from any thread; Compile by one thread at a time.
#ifndef SLUICE_EXECUTOR_SESSION_TASK_EXECUTOR_H_
#define SLUICE_EXECUTOR_SESSION_TASK_EXECUTOR_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "executor/cpu/thread_pool.h"
#include "executor/device/device_set.h"
#include "executor/kernel/kernel.h"
#include "executor/session/session.h"
#include "executor/session/session_plan.h"
#include "executor/step/step.h"
#include "executor/wait/stalls.h"

namespace sluice {

// Whether a pass (SessionOptions::disabled_passes names them) is to run.
bool RunsPass(const SessionOptions& options, const std::string& pass);
// INVALID_ARGUMENT where they name one that there is not.
absl::Status CheckPasses(const SessionOptions& options);

class TaskExecutor {
 public:
  // SessionOptions::devices is filled in where it is null.
  explicit TaskExecutor(SessionOptions options);
  ~TaskExecutor();

  // Of a graph whose nodes are placed on devices of this task. `feeds` is what CheckFeed knows.
  absl::StatusOr<std::unique_ptr<SessionPlan>> Compile(std::shared_ptr<const Graph> graph,
                                                       std::vector<Output> feeds);

  // The two halves of that.
  absl::StatusOr<std::shared_ptr<const Plan>> MakePlan(std::shared_ptr<const Graph> graph);
  std::unique_ptr<SessionPlan> PlanOf(std::shared_ptr<const Plan> plan, std::vector<Output> feeds);

  struct StepIdentity {
    int64_t step_id = 0;
    Rendezvous* rendezvous = nullptr;
  };
  // Fetches are moved into `fetches`. The step's first error.
  absl::Status Run(SessionPlan& plan, absl::Span<const Tensor* const> feeds, Tensor* fetches,
                   const StepIdentity& identity, const RunOptions& options, RunMetadata* metadata);
  // Later Runs are refused, with CANCELLED; who calls it cancels those under way.
  void Close() { closed_.store(true); }
  bool is_closed() const { return closed_.load(); }
  // Step ids are unique in the process.
  static int64_t NextStepId();

  const SessionOptions& options() const { return options_; }
  DeviceSet& devices() const { return *options_.devices; }
  Stalls& stalls() { return stalls_; }

 private:
  absl::StatusOr<std::shared_ptr<Kernel>> KernelFor(const Node& node,
                                                    const std::shared_ptr<const Graph>& graph);
  static absl::Status RunStep(Step& step, const StepArguments& arguments,
                              const RunOptions& options);

  SessionOptions options_;
  std::shared_ptr<const struct Job> job_;
  std::shared_ptr<ThreadPool> intra_op_;  // null: the caller alone
  std::shared_ptr<ThreadPool> inter_op_;
  Stalls stalls_;
  StepEnvironment environment_;
  std::atomic<bool> closed_{false};
  struct StatefulKernel {
    std::shared_ptr<Kernel> kernel;
    std::shared_ptr<const Graph> graph;  // of the node that it was made from
  };
  std::unordered_map<std::string, StatefulKernel> kernels_;  // by node; of the compiling thread
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_TASK_EXECUTOR_H_
