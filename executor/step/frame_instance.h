// A dynamic loop under way: the iterations that are open, and what waits for one to end. When it
// ends, the object is kept for the next time that the loop is entered.
//
// Everything here is guarded by the step's frames_mutex_, but the values in `invariants`, which are
// written before anybody is told of them.
#ifndef SLUICE_EXECUTOR_STEP_FRAME_INSTANCE_H_
#define SLUICE_EXECUTOR_STEP_FRAME_INSTANCE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "executor/step/iteration.h"

namespace sluice {

struct FrameInstance {
  const Body* body = nullptr;
  Iteration* parent = nullptr;  // the iteration that it was entered from
  uint64_t id = 0;
  int pending_enters = 0;                        // iteration 0 cannot end before
  int64_t newest = -1;                           // number of the last iteration that was started
  std::vector<std::unique_ptr<Iteration>> open;  // the oldest first
  std::vector<std::unique_ptr<Iteration>> spare;
  std::vector<Value> invariants;
  std::vector<bool> invariant_is_there;
  // Values for the iteration after the newest, held back while as many are open as may be.
  struct Deferred {
    uint32_t unit;
    Value value;
  };
  std::vector<Deferred> deferred;
  std::vector<Deferred> released;    // on their way to the next iteration
  std::vector<uint32_t> dead_exits;  // of the newest iteration, by position in Body::exits

  Iteration* Find(int64_t number) const {
    const int64_t oldest = newest - static_cast<int64_t>(open.size()) + 1;
    return number < oldest || number > newest ? nullptr : open[number - oldest].get();
  }
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_STEP_FRAME_INSTANCE_H_
