// Runs the steps of a plan, which is a compiled graph (executor/plan/plan.h), one step at a time.
// The object keeps its memory for the next step.
//
//   Step step(plan, environment);
//   absl::Status status = step.Run({.step_id = 7, .feeds = feeds});
//   … step.fetch(0) …
//
// The thread that calls Run runs the nodes of the step, and needs no other thread to make progress.
// Other threads run only nodes that had to wait: for an answer of an asynchronous kernel, or for a
// variable that another kernel used. If the caller is busy then, a thread of the inter-op pool runs
// such nodes and those that follow them. The thread that delivers an answer may also run them
// (continuations.h). Kernels may divide their own work among the threads of the intra-op pool.
// After its first run, a step of cheap nodes takes no lock and allocates nothing.
//
// Errors: the first error of a kernel cancels all blocked operations. Run returns when every kernel
// has ended, with a summary of the errors (executor/wait/error_group.h). Each error names its node
// and the line that built the node. INVALID_ARGUMENT if a fetched value is dead, because its branch
// was not taken.
// Thread safety: one thread at a time may call Run. Any thread may call Cancel while the object
// lives.
#ifndef SLUICE_EXECUTOR_STEP_STEP_H_
#define SLUICE_EXECUTOR_STEP_STEP_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/cpu/thread_pool.h"
#include "executor/device/resource_manager.h"
#include "executor/kernel/context.h"
#include "executor/plan/plan.h"
#include "executor/wait/cancellation.h"
#include "executor/wait/rendezvous.h"

namespace sluice {

// The key of a payload of the FAILED_PRECONDITION for an uninitialized variable. The payload is the
// name of the variable's node.
inline constexpr char kUninitializedPayload[] = "sluice/uninitialized_variable";

// A node that has run. Times are nanoseconds of the steady clock (executor/cpu/steady_time.h).
// `inputs` is null for asynchronous nodes, because their inputs are dropped before the observer is
// called.
struct NodeRun {
  const PlanNode& node;
  int64_t start_ns;
  int64_t end_ns;
  Value* const* inputs;
  const Value* outputs;
};

// Observes every node that has run. Thread safety: several threads call OnNode at the same time.
class NodeObserver {
 public:
  virtual ~NodeObserver() = default;
  // If this returns an error, the node fails with it.
  virtual absl::Status OnNode(const NodeRun& run) = 0;
  // Whether OnNode needs the inputs as the node saw them. Kernels then do not reuse input buffers.
  virtual bool NeedsInputs() const { return false; }
};

// Decides when a blocked step goes on, so that tests and simulations control the interleaving of
// steps. Thread safety: several threads call the methods at the same time.
class StepScheduler {
 public:
  virtual ~StepScheduler() = default;
  // Called when the step has nothing to run until an asynchronous kernel answers. It is called on
  // the thread of Run with the step's lock held, so it must not block or call into the step.
  virtual void Blocked(int64_t step_id) = 0;
  // Called when a kernel has answered, on the answering thread. The same rules apply.
  virtual void Ready(int64_t step_id) = 0;
  // Called on the thread of Run before a blocked step goes on. May block.
  virtual void Resume(int64_t step_id) = 0;
};

// The environment that a session's steps share. Pointers may be null, except `allocator` and the
// elements of `resources`.
struct StepEnvironment {
  Allocator* allocator = nullptr;
  std::vector<ResourceManager*> resources;  // by device; at least one
  ThreadPool* intra_op = nullptr;
  bool may_leave_intra_op = false;  // steps that are faster without intra_op do not use it
  ThreadPool* inter_op = nullptr;
  Stalls* stalls = nullptr;
  StepScheduler* scheduler = nullptr;
  int64_t session = 0;  // the number of the session (executor/wait/session_scope.h); 0: none
  // A step that waits longer than this calls `warn` once with the operations that it waits for. 0:
  // never.
  std::chrono::milliseconds stall_warning = {};
  std::function<void(const std::string&)> warn;
};

struct StepArguments {
  int64_t step_id = 0;
  absl::Span<const Tensor* const> feeds;  // must live until Run returns
  Rendezvous* rendezvous = nullptr;
  NodeObserver* observer = nullptr;
  // At this time the step is cancelled with DEADLINE_EXCEEDED. Time::max(): never.
  CancellationManager::Time deadline = CancellationManager::Time::max();
};

class UnitScheduler;  // executor/step/running_step.h

class Step {
 public:
  Step(std::shared_ptr<const Plan> plan, const StepEnvironment& environment);
  ~Step();
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  absl::Status Run(const StepArguments& arguments);
  // The value of fetch i in the last Run, which must have returned OK. May be moved from.
  Tensor& fetch(int i);
  // Ends the running step with `status`, unless the step already has an error. If no step is
  // running, the next Run ends at once.
  void Cancel(const absl::Status& status);
  // Forgets a Cancel that came after the end of Run.
  void ForgetCancellation();

 private:
  const std::unique_ptr<UnitScheduler> scheduler_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_STEP_STEP_H_
