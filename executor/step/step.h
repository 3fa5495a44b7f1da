// One run of a plan at a time: the object holds the memory of a step, and is used again and again.
//
//   Step step(plan, environment);
//   absl::Status status = step.Run({.step_id = 7, .feeds = feeds});
//   … step.fetch(0) …
//
// The step starts on the caller's thread and, while there is work that is not worth another thread,
// stays there; the caller also runs what asynchronous kernels make ready, but for what a thread
// that brings answers goes on with itself (continuations.h). So a step needs no pool to make
// progress, and a warm step of cheap nodes takes no lock and allocates nothing.
//
// Errors: the first one of a kernel, with the node's name and the line that made it behind; it
// cancels all that is blocked, and what follows from that is not reported. Run returns when every
// kernel has ended.
//
// Thread safety: Run by one thread at a time; Cancel from any thread while the object lives.
#ifndef SLUICE_EXECUTOR_STEP_STEP_H_
#define SLUICE_EXECUTOR_STEP_STEP_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/cpu/thread_pool.h"
#include "executor/device/resource_manager.h"
#include "executor/kernel/context.h"
#include "executor/plan/plan.h"
#include "executor/step/continuations.h"
#include "executor/step/iteration.h"
#include "executor/step/sharing_trial.h"
#include "executor/wait/cancellation.h"
#include "executor/wait/rendezvous.h"

namespace sluice {

// Payload of the FAILED_PRECONDITION for an uninitialised variable: the name of its node.
inline constexpr char kUninitializedPayload[] = "sluice/uninitialized_variable";

// A node that ran. Times are of the steady clock. An asynchronous node's inputs are gone: null.
struct NodeRun {
  const PlanNode& node;
  int64_t start_ns;
  int64_t end_ns;
  Value* const* inputs;
  const Value* outputs;
};

// Told of every node that ran. Thread safety: called from several threads at once.
class NodeObserver {
 public:
  virtual ~NodeObserver() = default;
  // An error is the node's, as if its kernel had returned it.
  virtual absl::Status OnNode(const NodeRun& run) = 0;
  // Whether inputs are to be as the node saw them: no kernel then takes over an input's memory.
  virtual bool NeedsInputs() const { return false; }
};

// Decides when a step that waited may go on: with it, tests and simulations make the interleaving
// of steps their own. Thread safety: called from several threads at once.
class StepScheduler {
 public:
  virtual ~StepScheduler() = default;
  // The step has nothing to run until an asynchronous kernel answers. Called by the thread of Run,
  // with the step's lock held: must not block, nor call into the step.
  virtual void Blocked(int64_t step_id) = 0;
  // One has answered; by the thread that brought it about, under the same rules.
  virtual void Ready(int64_t step_id) = 0;
  // Before a step that was blocked goes on; by the thread of Run. May block.
  virtual void Resume(int64_t step_id) = 0;
};

// What a session gives all its steps; everything may be null but the allocator.
struct StepEnvironment {
  Allocator* allocator = nullptr;
  std::vector<ResourceManager*> resources;  // by device; at least one
  ThreadPool* intra_op = nullptr;
  bool may_leave_intra_op = false;  // by steps that are quicker without (sharing_trial.h)
  ThreadPool* inter_op = nullptr;
  Stalls* stalls = nullptr;
  StepScheduler* scheduler = nullptr;
  // A step that waits longer is told of once, with what it waits for; zero: never.
  std::chrono::milliseconds stall_warning = {};
  std::function<void(const std::string&)> warn;
};

struct StepArguments {
  int64_t step_id = 0;
  absl::Span<const Tensor* const> feeds;  // borrowed
  Rendezvous* rendezvous = nullptr;
  NodeObserver* observer = nullptr;
  // The step is cancelled then, with DEADLINE_EXCEEDED; Time::max(): never.
  CancellationManager::Time deadline = CancellationManager::Time::max();
};

class Step {
 public:
  Step(std::shared_ptr<const Plan> plan, const StepEnvironment& environment);
  ~Step();
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  absl::Status Run(const StepArguments& arguments);
  // After a Run that went well; may be moved from.
  Tensor& fetch(int i) { return fetches_[i].tensor; }
  // Ends the step with `status`, unless it has an error already. Of a step that is not running:
  // ends the next one at once; the caller sees to it that this is meant.
  void Cancel(const absl::Status& status);
  // A Cancel that came after the end does not count for the next step.
  void ForgetCancellation();

  const Plan& plan() const { return *plan_; }

 private:
  friend struct AsyncCall;
  // A unit to run, or an asynchronous one that has ended. It is read soon after it was written: two
  // words, made in place and read one by one, since a wider read would wait for their stores.
  struct Ready {
    Iteration* iteration;
    uint64_t unit : 32;
    uint64_t ended : 1 = 0;
    uint64_t first : 31 = 0;  // of the unit's nodes: those before have run
  };
  struct Worker {
    absl::InlinedVector<Ready, 32> ready;
    bool is_caller = false;
    bool has_only_this = false;  // the step is one segment
    // Why the last segment stopped, and before which of its nodes; null: an error, or none.
    std::shared_ptr<Claim> awaited;
    uint32_t stopped_at = 0;
  };
  // A unit that goes on when a claim is given back.
  class Waiting;
  // What is shared, for the thread that brought the answers.
  struct InScope final : Continuation {
    explicit InScope(Step* s) : step(s) {}
    void GoOnHere() override { step->Help(); }
    void GoOnElsewhere() override;
    Step* const step;
  };

  // --- step.cc: who runs what, when
  void Start(const StepArguments& arguments);
  void RunOnlySegment();
  void UseIntraOp(bool use);
  void RunUnits();
  absl::Status Finish();
  void DetachRendezvous();
  void DropValues();
  void Work(Worker& worker);
  void Process(Ready next, Worker& worker);
  bool RunWhole(Iteration& it, const Unit& segment, uint32_t first, Worker& worker);
  void GoOnLater(const Ready& from, Worker& worker);
  void Complete(Iteration& it, const Unit& unit, Worker& worker);
  int Signal(Iteration& it, const Unit& unit, Worker& worker);
  void Ended(Iteration& it, int more, Worker& worker);
  void ShareExpensive(size_t from, Worker& worker);
  void PushShared(const Ready& ready);
  void HandOver();
  bool TakeShared(Worker& worker);
  void Help();
  void HelperEnded();
  bool WaitForWork();
  bool WaitUntilWoken(std::unique_lock<std::mutex>& lock);
  void CountActive(int change, const Worker& worker);
  bool HasFailed() const { return cancellation_.IsCancelled(); }
  bool HasDeadline() const { return cancellation_.deadline() != CancellationManager::Time::max(); }
  bool IsOverdue() const {
    return HasDeadline() && std::chrono::steady_clock::now() >= cancellation_.deadline();
  }
  void Fail(const PlanNode& node, const absl::Status& status);
  void TimeOut();
  void WarnOfStall();

  // --- run_nodes.cc: the nodes of a segment
  bool RunSegment(Iteration& it, const Unit& unit, uint32_t first, Worker& worker);
  struct NodeRange {
    uint32_t begin, end;  // of a body's nodes
  };
  template <bool kDeadness>
  bool RunNodes(Iteration& it, NodeRange range, LoopState* loop, Worker& worker);
  // A node whose inputs are alive: at `inputs`, of which those in `movable` may be taken over.
  struct Call {
    Iteration& it;
    const PlanNode& node;
    Value* const* inputs;
    uint64_t movable;
    Value* outputs;
    LoopState* loop;  // that the node runs in, or null
    Worker& worker;
    bool IsMovable(int i) const { return i < 64 && ((movable >> i) & 1) != 0; }
    void Pass(int input, Value& to) const;
  };
  absl::Status RunNode(const Call& call);
  absl::Status RunNodeOnce(const Call& call);
  absl::Status RunKernel(const Call& call);
  bool RunScalarLoop(Iteration& it, const PlanNode& node);
  absl::Status RunBuiltin(const Call& call);
  absl::Status RunCarefully(const Call& call);
  absl::Status RunFetch(const Call& call);
  absl::Status RunLoop(const Call& call);
  bool RunIterations(LoopState& loop, Worker& worker);
  bool RunPhases(LoopState& loop, Worker& worker);
  void FailCondition(const PlanNode& condition, const Tensor& value);
  absl::Status RunFused(const Call& call);
  static absl::Status CheckDelayed(const Call& call);
  static absl::Status RunSwitch(const Call& call);
  absl::Status RunMerge(const Call& call);
  absl::Status SetMergeIndex(const PlanNode& node, int taken, Value* outputs);
  absl::Status ReadRefs(const Iteration& it, const PlanNode& node, Value* read, Value** inputs,
                        Worker& worker) const;
  static bool HasDeadInput(const Iteration& it, const PlanNode& node);
  static bool IsDead(const Iteration& it, const PlanNode& node);
  void PassDeadness(Iteration& it, const PlanNode& node, Worker& worker);

  // --- async.cc: asynchronous kernels
  void StartAsync(Iteration& it, const Unit& unit, Worker& worker);
  void EndAsync(Iteration& it, const Unit& unit, Worker& worker);
  void OnAsyncDone(AsyncCall& call, absl::Status status);

  // --- frames.cc: values that change frame or iteration
  void MergeArrives(Iteration& it, const Unit& from, const UnitEdge& edge, Worker& worker,
                    int* ready);
  void RunMergeUnit(Iteration& it, const Unit& unit, Worker& worker);
  void Enter(Iteration& it, const PlanNode& node, Value value, Worker& worker);
  void Exit(Iteration& it, const PlanNode& node, Value value, Worker& worker);
  void NextIteration(Iteration& it, const PlanNode& node, Value value, Worker& worker);
  void Arrive(Iteration& it, uint32_t unit, Value value, Worker& worker);
  void InvariantArrives(Iteration& it, uint32_t unit, Worker& worker);
  FrameInstance* ChildFrame(Iteration& it, const Body& body);
  Iteration* StartIteration(FrameInstance& frame, Worker& worker);
  void IterationEnded(Iteration& it, Worker& worker);
  void FrameEnded(FrameInstance* frame, Worker& worker);
  void DropFrames();

  const std::shared_ptr<const Plan> plan_;
  const StepEnvironment environment_;
  std::vector<StepContext> contexts_;  // by device
  std::vector<Value> feeds_;
  std::vector<Value> fetches_;
  Iteration root_;
  std::vector<std::atomic<LoopState*>> loops_;  // spare states: two a loop, the second in phases
  CancellationManager cancellation_;
  ResourceManager step_resources_;
  SharingTrial sharing_;
  std::function<void(std::function<void()>)> schedule_;
  Worker caller_;
  std::atomic<std::thread::id> caller_thread_;
  InScope continuation_{this};

  int64_t step_id_ = 0;
  std::atomic<Rendezvous*> rendezvous_{nullptr};  // of the Run; Cancel may come at any time
  NodeObserver* observer_ = nullptr;
  bool attention_ = false;   // observer_ or a deadline
  bool has_warned_ = false;  // of this step's stall

  std::mutex mutex_;
  std::condition_variable wake_;  // the caller
  std::condition_variable idle_;  // the destructor, DetachRendezvous
  int aborting_ = 0;              // Cancels that use the rendezvous; guarded by mutex_
  absl::Status status_;           // guarded by mutex_
  int further_errors_ = 0;        // guarded by mutex_
  std::vector<Ready> shared_;     // guarded by mutex_
  bool caller_waits_ = false;     // guarded by mutex_
  int helpers_ = 0;  // in the pool, and in threads that bring answers; guarded by mutex_
  std::atomic<int> num_shared_{0};  // size of shared_
  std::atomic<int64_t> active_{0};  // units ready or running; the step ends with the last
  std::atomic<bool> finished_{false};

  std::mutex frames_mutex_;  // all FrameInstances, and Iteration::children
  std::vector<std::unique_ptr<FrameInstance>> frames_;
  std::vector<std::vector<std::unique_ptr<FrameInstance>>> spare_frames_;  // by body
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_STEP_STEP_H_
