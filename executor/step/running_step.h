// The classes that run a step (step.h). Only the files of this folder include this header.
//
// - StepState: shared state (contexts, feeds, fetches, errors)
// - UnitScheduler: assigns units to threads, and waits
// - NodeRunner: runs the nodes of a unit, and simple loops
// - DynamicFrames: moves values between the frames and iterations of dynamic loops
// - Iteration: the values and pending counts of one iteration of a body
//
// Terms, as in executor/plan/plan.h:
//
// - A body is the part of a plan that an iteration runs: the plan's root, or the body of a loop.
// - A unit is work that runs as a whole: a segment (nodes that become ready together and run one
//   after another), one Merge, or one asynchronous node. An arrival unit stands for a value that
//   comes from another frame or iteration.
// - A slot is the place of a value in an iteration.
// - A simple loop is one node of its parent and runs on one thread. A dynamic loop has frames and
//   iterations, as in TensorFlow. A frame is one execution of the loop.
//
// One thread at a time runs a unit. Several threads may run units of one step at the same time.
// Ownership: the scheduler owns the other parts. They keep their memory for the next step.
#ifndef SLUICE_EXECUTOR_STEP_RUNNING_STEP_H_
#define SLUICE_EXECUTOR_STEP_RUNNING_STEP_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "executor/step/continuations.h"
#include "executor/step/sharing_trial.h"
#include "executor/step/step.h"
#include "executor/wait/error_group.h"
#include "graph/mutex.h"

namespace sluice {

class UnitScheduler;
struct FrameInstance;
struct Iteration;

// --- state

// One call of an asynchronous kernel. The thread that starts the kernel and the thread that calls
// `done` may differ, and `state` decides which of them continues. If `done` is called before
// ComputeAsync returns, the starting thread continues with the unit. Otherwise the thread that
// calls `done` shares the unit with the threads of the step (UnitScheduler::Share). If the starting
// thread itself calls `done`, `state` is not used.
struct AsyncCall {
  enum State : int { kStarting, kReturned, kDone };
  UnitScheduler* scheduler = nullptr;
  Iteration* iteration = nullptr;
  uint32_t unit = 0;
  std::atomic<int> state{kStarting};
  bool is_answered = false;  // the starting thread has called `done`
  absl::Status status;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  std::optional<KernelContext> context;
  // For nodes with reference inputs: copies of the values of the variables, and the inputs, which
  // point to these copies where they are references.
  std::vector<Value> read;
  std::vector<Value*> inputs;
};

// The values of one iteration of a body, which is the plan's root or the body of a loop. After
// Clear, the object can be used for another iteration of the body.
struct Iteration {
  // `feeds` are the values of the step's feeds. `invariants` are those of the loop's invariants,
  // and may be null if there are none. `scheduler` may be null if the body has no asynchronous
  // units.
  Iteration(UnitScheduler* scheduler, const Plan& plan, const Body& body, Value* feeds,
            Value* invariants);

  // Drops all values.
  void Clear();
  // Sets the pending counts for a new iteration: what each unit waits for.
  void ResetPending();
  // Drops the values that no node after `node` reads. Small buffers stay for later values of their
  // slots.
  void Release(const PlanNode& node) {
    const uint32_t* slot = body->releases.data() + node.first_release;
    for (int i = 0; i < node.num_releases; ++i) slots[slot[i]].tensor.Retire();
  }

  // Records that an input of a Merge unit has arrived: unit `from` has ended, and `edge` leads from
  // it to the Merge. The first live data input becomes the output of the Merge. Returns true if
  // this input makes the Merge ready, which happens once (executor/plan/merge_word.h).
  bool MergeInputArrives(const Unit& from, const UnitEdge& edge);

  const Body* body;
  std::vector<Value> slots;
  std::vector<Value*> inputs;  // addresses of values, in the order of Body::inputs
  std::vector<uint8_t> flags;  // by NodeDeadness::flag: 1 if the node is dead
  std::unique_ptr<std::atomic<uint64_t>[]> pending;  // by unit: what it still waits for
  std::vector<int32_t> merge_taken;                  // by unit: the input that a Merge took
  std::unique_ptr<AsyncCall[]> calls;
  uint64_t frame_id = 0;
  int64_t number = 0;
  FrameInstance* frame = nullptr;  // null for the root and simple loops

  // Guarded by DynamicFrames::mutex_.
  int64_t outstanding = 0;  // ready or running units (not counted in the root), plus child frames
  std::vector<std::pair<const Body*, FrameInstance*>> children;
};

// OutputError returns the INTERNAL error of a node whose kernel did not set output `i`, or set it
// to a tensor of another type. CheckOutputs returns it for the first such output, or OK.
absl::Status OutputError(const PlanNode& node, int i, const Tensor& output);
inline absl::Status CheckOutputs(const PlanNode& node, const Value* outputs) {
  for (int i = 0; i < node.num_outputs; ++i) {
    const Value& out = outputs[i];
    if (out.tensor.dtype() == node.output_types[i]) [[likely]] {
      continue;
    }
    if (out.ref == nullptr && !out.is_dead) return OutputError(node, i, out.tensor);
  }
  return absl::OkStatus();
}

// The state of one run of a simple loop. If `in_phases`, its iterations run the loop's phased body,
// in which no node checks for dead inputs (executor/plan/phases.h). Otherwise they run its usual
// body.
struct LoopState {
  LoopState(const Plan& plan, const Loop& loop, bool in_phases, Value* feeds);

  std::vector<Value> invariants;
  std::vector<Value> carried;  // the loop variables' values for the next iteration
  Iteration iteration;
  Value* outputs = nullptr;  // of the loop's node
  bool goes_on = false;      // some variable has a value for the next iteration
};

// The frame of a running dynamic loop. When it ends, the object is kept for the next run of the
// loop.
//
// Guarded by DynamicFrames::mutex_, except the values in `invariants`, which are written before any
// unit that reads them becomes ready.
struct FrameInstance {
  const Body* body = nullptr;
  Iteration* parent = nullptr;  // the iteration that the loop was entered from
  uint64_t id = 0;
  int pending_enters = 0;                         // Enters that have not arrived yet
  int64_t newest = -1;                            // number of the last started iteration
  std::vector<std::unique_ptr<Iteration>> open;   // running iterations, the oldest first
  std::vector<std::unique_ptr<Iteration>> spare;  // unused
  std::vector<Value> invariants;
  std::vector<bool> has_invariant;  // which invariants have arrived
  // Values for the next iteration, which cannot start yet because the largest allowed number of
  // iterations is running.
  struct Deferred {
    uint32_t unit;
    Value value;
  };
  std::vector<Deferred> deferred;
  std::vector<Deferred> released;  // values of `deferred` while the next iteration takes them
  // The Exits that were dead in the newest iteration, as indices into Body::exits.
  std::vector<uint32_t> dead_exits;

  Iteration* Find(int64_t number) const {
    const int64_t oldest = newest - static_cast<int64_t>(open.size()) + 1;
    return number < oldest || number > newest ? nullptr : open[number - oldest].get();
  }
};

// --- the parts

// A unit to run, or an asynchronous unit whose kernel has called `done`. The object has two words,
// which are written and read one by one. The reason is that it is read soon after it is written:
// one wider read would have to wait until both stores have reached the cache.
struct ReadyUnit {
  Iteration* iteration;
  uint64_t unit : 32;
  uint64_t has_ended : 1 = 0;  // the unit's asynchronous kernel has called `done`
  uint64_t first : 31 = 0;     // index in the unit of its first node that has not run yet
};

// The state of a thread that runs units of a step.
struct Worker {
  absl::InlinedVector<ReadyUnit, 32> ready;  // the last one runs next
  bool is_caller = false;                    // this is the thread that called Run
  bool has_only_segment = false;             // the whole step is one segment
  // Set if a unit stopped before node `stopped_at` (an index into Body::nodes), because another
  // kernel holds the lock of a variable, its claim (executor/wait/claim.h). Null otherwise.
  std::shared_ptr<Claim> awaited;
  uint32_t stopped_at = 0;
};

// The result of running a unit.
enum class Outcome {
  kDone,        // the unit has ended; its successors may run
  kFailed,      // the step has failed
  kClaimTaken,  // the unit stopped, and goes on when Worker::awaited is released
  kPending,     // the unit goes on when its asynchronous kernel calls `done`
};

class StepState {
 public:
  StepState(std::shared_ptr<const Plan> plan, const StepEnvironment& environment);

  void Start(const StepArguments& arguments);
  // Detaches the rendezvous and drops the feeds and the step's resources.
  void Finish();
  // Returns the step's error and forgets it.
  absl::Status TakeError();

  bool HasFailed() const { return cancellation.IsCancelled(); }
  bool HasDeadline() const { return cancellation.deadline() != CancellationManager::Time::max(); }
  bool IsOverdue() const {
    return HasDeadline() && std::chrono::steady_clock::now() >= cancellation.deadline();
  }
  void Fail(const PlanNode& node, const absl::Status& status);
  void Cancel(const absl::Status& status) { Cancel(status, kNoDevice); }
  // Ends the step because of an error of a node on this device.
  void Cancel(const absl::Status& status, int device);
  void TimeOut();
  void UseIntraOp(bool use);

  const std::shared_ptr<const Plan> plan;
  const StepEnvironment environment;
  std::vector<StepContext> contexts;  // by device
  std::vector<Value> feeds;
  std::vector<Value> fetches;
  CancellationManager cancellation;
  int64_t step_id = 0;
  NodeObserver* observer = nullptr;
  bool needs_care = false;  // there is an observer or a deadline, to check at each node

 private:
  static constexpr int kNoDevice = -1;

  void AddError(const absl::Status& status, int device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  ResourceManager step_resources_;
  std::function<void(std::function<void()>)> schedule_;
  std::atomic<Rendezvous*> rendezvous_{nullptr};  // null after Finish, so no late Cancel uses it
  Mutex mutex_;
  CondVar not_aborting_;
  int aborting_ ABSL_GUARDED_BY(mutex_) = 0;  // number of Cancels that use the rendezvous
  ErrorGroup errors_ ABSL_GUARDED_BY(mutex_);
  // Devices whose nodes caused an error of the step, not only a consequence of another error.
  // kNoDevice stands for an error that no node caused, such as a deadline.
  absl::InlinedVector<int, 4> failed_devices_ ABSL_GUARDED_BY(mutex_);
};

// Runs dynamic loops by TensorFlow's rules: values enter a frame (Enter), go on to the next
// iteration (NextIteration), and leave the frame (Exit). An iteration ends when none of its units
// is running or ready, it has no child frame, and the previous iteration has ended. The first
// iteration also waits for all Enters. A frame ends with its last iteration. An Exit passes on a
// dead value only then, because it may get a live value in a later iteration.
class DynamicFrames {
 public:
  DynamicFrames(StepState& state, UnitScheduler& scheduler);

  void Enter(Iteration& it, const PlanNode& node, Value value, Worker& worker);
  void Exit(Iteration& it, const PlanNode& node, Value value, Worker& worker);
  void NextIteration(Iteration& it, const PlanNode& node, Value value, Worker& worker);
  // To be called when a unit of iteration `it` has ended and has made `more` units of it ready.
  void UnitEnded(Iteration& it, int more, Worker& worker);
  // Drops all frames after a failed step.
  void DropAll();

 private:
  void Arrive(Iteration& it, uint32_t unit, Value value, Worker& worker)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void InvariantArrives(Iteration& it, uint32_t unit, Worker& worker)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ArrivalEnded(Iteration& it, const Unit& unit, Worker& worker)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  FrameInstance* ChildFrame(Iteration& it, const Body& body) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Iteration* StartIteration(FrameInstance& frame, Worker& worker)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EndIterations(FrameInstance* frame, Worker& worker) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EndFrame(FrameInstance* frame, Worker& worker) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  StepState& state_;
  UnitScheduler& scheduler_;
  Mutex mutex_;  // also guards FrameInstances, Iteration::outstanding and Iteration::children
  std::vector<std::unique_ptr<FrameInstance>> frames_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::vector<std::unique_ptr<FrameInstance>>> spare_frames_
      ABSL_GUARDED_BY(mutex_);  // by body
};

class NodeRunner {
 public:
  NodeRunner(StepState& state, DynamicFrames& frames);
  ~NodeRunner();

  // Runs the nodes of a segment, from its node number `first` on (counted from 0).
  Outcome RunSegment(Iteration& it, const Unit& unit, uint32_t first, Worker& worker);
  // Runs a unit that is one Merge, after the unit became ready. Sets the outputs that
  // Iteration::MergeInputArrives has not set.
  Outcome RunMergeUnit(Iteration& it, const Unit& unit);
  // Starts an asynchronous kernel. If it has called `done` by then, ends the unit. Otherwise
  // returns kPending, and the thread that continues the unit later calls EndAsync.
  Outcome StartAsync(Iteration& it, const Unit& unit, Worker& worker);
  Outcome EndAsync(Iteration& it, const Unit& unit);

 private:
  struct NodeRange {
    uint32_t begin, end;  // in the body's nodes
  };
  // The call of a node whose inputs are alive.
  struct Call {
    Iteration& it;
    const PlanNode& node;
    Value* const* inputs;
    uint64_t movable;  // bit i: the node may take over input i
    Value* outputs;
    LoopState* loop;  // the simple loop that the node runs in, or null
    Worker& worker;
    void Pass(int input, Value& to) const {
      if (input < 64 && ((movable >> input) & 1) != 0) {
        to = std::move(*inputs[input]);
      } else {
        to = *inputs[input];
      }
    }
  };

  template <bool kDeadness>
  bool RunRange(Iteration& it, NodeRange range, LoopState* loop, Worker& worker);
  bool TryScalarLoop(Iteration& it, const PlanNode& node);
  absl::Status DispatchUntilFree(const Call& call);
  absl::Status Dispatch(const Call& call);
  absl::Status DispatchWithCare(const Call& call);
  // Copies the values of referenced variables to `read`, and makes `inputs` point to the copies. If
  // another kernel holds the lock of a variable (its claim), stores the claim in Worker::awaited
  // and returns ABORTED. The unit then continues when the claim is released.
  absl::Status ReadRefs(const Iteration& it, const PlanNode& node, Value* read, Value** inputs,
                        Worker& worker) const;
  void OnAsyncDone(AsyncCall& call, absl::Status status);
  static bool HasDeadInput(const Iteration& it, const PlanNode& node);
  static bool IsDead(const Iteration& it, const PlanNode& node);
  void PassDeadness(Iteration& it, const PlanNode& node, Worker& worker);
  absl::Status CallKernel(const Call& call);
  absl::Status CallBuiltin(const Call& call);
  absl::Status CallFused(const Call& call);
  static absl::Status CheckDelayed(const Call& call);
  absl::Status StoreFetch(const Call& call);
  static absl::Status PredicateError(const Tensor& predicate);
  static absl::Status ChooseBranch(const Call& call);
  absl::Status MergeBranches(const Call& call);
  absl::Status SetMergeIndex(const PlanNode& node, int taken, Value* outputs);
  absl::Status SetLoopVariable(const Call& call);
  void MoveToFrame(const Call& call);

  // --- simple_loops.cc
  absl::Status RunLoop(const Call& call);
  bool IterateWithDeadness(LoopState& loop, Worker& worker);
  bool IterateInPhases(LoopState& loop, Worker& worker);
  void FailCondition(const PlanNode& condition, const Tensor& value);

  StepState& state_;
  DynamicFrames& frames_;
  // Unused loop states, two per simple loop: for runs of its usual body and of its phased body.
  std::vector<std::atomic<LoopState*>> spare_loops_;
};

class UnitScheduler {
 public:
  UnitScheduler(std::shared_ptr<const Plan> plan, const StepEnvironment& environment);
  ~UnitScheduler();

  // A failed allocation outside of kernels ends the process (noexcept), because other threads may
  // still use the step.
  absl::Status Run(const StepArguments& arguments) noexcept;
  StepState& state() { return state_; }

  // Adds `change` to the number of units of the step that are ready or running. The step ends when
  // the number becomes zero.
  void CountActive(int change, const Worker& worker);
  // Passes on the values of a unit that has ended. Adds the units that became ready to
  // Worker::ready and returns their number.
  int SignalSuccessors(Iteration& it, const Unit& unit, Worker& worker);
  // Adds a unit to the shared units, which any thread of the step may run, and makes sure that a
  // thread takes it. May be called from any thread.
  void Share(const ReadyUnit& ready);

 private:
  class ClaimWaiter;
  // Runs the step's shared units on the thread that delivered the answer to an asynchronous kernel.
  struct InScope final : Continuation {
    explicit InScope(UnitScheduler* s) : scheduler(s) {}
    void GoOnHere() override { scheduler->Help(); }
    void GoOnElsewhere() override;
    UnitScheduler* const scheduler;
  };

  void RunOnlySegment();
  void RunUnits();
  void RunReady(Worker& worker);
  void RunUnit(const ReadyUnit& next, Worker& worker);
  Outcome RunByKind(Iteration& it, const Unit& unit, const ReadyUnit& next, Worker& worker);
  Outcome RunSegment(Iteration& it, const Unit& segment, uint32_t first, Worker& worker);
  void ResumeWhenFree(const ReadyUnit& from, Worker& worker);
  void UnitEnded(Iteration& it, int more, Worker& worker);

  bool TakeShared(Worker& worker);
  void Help();
  void HandOver() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void HelperEnded() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  bool HasEnded() const { return ended_.load(std::memory_order_acquire); }
  bool WaitForWork();
  bool WaitUntilWoken();
  bool WaitUntil(CancellationManager::Time time) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WarnOfStall();
  absl::Status Finish();
  void DropValues();

  StepState state_;
  DynamicFrames frames_;
  NodeRunner nodes_;
  Iteration root_;
  SharingTrial sharing_;
  Worker caller_;
  std::atomic<std::thread::id> caller_thread_;
  InScope continuation_{this};
  bool has_warned_ = false;  // has called `warn` because this step waits

  Mutex mutex_;
  CondVar wake_;  // wakes the caller
  CondVar idle_;  // wakes the destructor
  std::vector<ReadyUnit> shared_ ABSL_GUARDED_BY(mutex_);
  bool caller_waits_ ABSL_GUARDED_BY(mutex_) = false;
  int helpers_ ABSL_GUARDED_BY(mutex_) = 0;  // threads that run or are about to run Help
  std::atomic<int> num_shared_{0};           // size of shared_
  std::atomic<int64_t> active_{0};           // units ready or running; the step ends with the last
  std::atomic<bool> ended_{false};
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_STEP_RUNNING_STEP_H_
