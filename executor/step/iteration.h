// The state of one iteration of a body: values, pending counts, calls under way.
//
// Memory is taken when the object is made and kept over steps; `Clear` leaves it ready for the
// next.
#ifndef SLUICE_EXECUTOR_STEP_ITERATION_H_
#define SLUICE_EXECUTOR_STEP_ITERATION_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "executor/kernel/context.h"
#include "executor/plan/plan.h"

namespace sluice {

class Step;
struct FrameInstance;
struct Iteration;

// One asynchronous kernel's call. `state` decides who goes on after it: the thread that started it,
// when `done` came before ComputeAsync returned, else whoever called `done`. Where that thread
// called `done` by itself, `state` stays as it is.
struct AsyncCall {
  enum State : int { kStarting, kReturned, kDone };
  Step* step = nullptr;
  Iteration* iteration = nullptr;
  uint32_t unit = 0;
  std::atomic<int> state{kStarting};
  bool is_answered = false;  // of the thread that starts it
  absl::Status status;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  std::optional<KernelContext> context;
  std::vector<Value> read;     // references' values
  std::vector<Value*> inputs;  // where some of them are in `read`
};

struct Iteration {
  // `invariants` may be null where the body has none.
  Iteration(Step* step, const Plan& plan, const Body& body, Value* feeds, Value* invariants);

  // Drops all values.
  void Clear();
  // Pending counts as an iteration starts with them.
  void ResetPending();

  const Body* body;
  std::vector<Value> slots;
  std::vector<Value*> inputs;                        // by Body::inputs: where each lies
  std::vector<uint8_t> flags;                        // which nodes are dead
  std::unique_ptr<std::atomic<uint64_t>[]> pending;  // by unit
  std::vector<int32_t> merge_taken;                  // by unit: the input that a Merge took
  std::unique_ptr<AsyncCall[]> calls;
  uint64_t frame_id = 0;
  int64_t number = 0;

  // Units ready or running (not counted in the root), and child frames. Guarded by the step's
  // frames.
  int64_t outstanding = 0;
  FrameInstance* frame = nullptr;  // null for the root and simple loops
  std::vector<std::pair<const Body*, FrameInstance*>> children;  // guarded by the step's frames
};

// A run of a simple loop.
struct LoopState {
  // In the loop's body, or in its phased body.
  LoopState(Step* step, const Plan& plan, const Loop& loop, bool in_phases, Value* feeds);

  std::vector<Value> invariants;
  std::vector<Value> carried;  // values of the variables for the next iteration
  Iteration iteration;
  Value* outputs = nullptr;  // of the loop's node
  bool goes_on = false;      // some variable has a value for the next iteration
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_STEP_ITERATION_H_
