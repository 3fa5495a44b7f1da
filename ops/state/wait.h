// Registers operations that wait for a resource, so that they can be cancelled and stall reports
// show them.
#ifndef SLUICE_OPS_STATE_WAIT_H_
#define SLUICE_OPS_STATE_WAIT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "executor/kernel/context.h"
#include "executor/wait/cancellation.h"
#include "executor/wait/stalls.h"
#include "graph/tensor/buffer.h"

namespace sluice {

// The kernel call that runs an operation. The pointers are valid until the callback of the
// operation runs.
struct Caller {
  CancellationManager* cancellation = nullptr;  // null if the call cannot be cancelled
  Stalls* stalls = nullptr;                     // null if reports do not show the call
  Allocator* allocator = &Heap();
  int64_t step_id = 0;
  std::string_view node;
  std::string_view op;
  int replica = -1;  // the replica that runs the step. -1 if unknown

  bool IsCancelled() const { return cancellation != nullptr && cancellation->IsCancelled(); }
  // CANCELLED if the call is cancelled or its deadline is over. Long loops, which do not wait, call
  // it.
  absl::Status CheckNotCancelled() const;
};

Caller CallerOf(const KernelContext& c);

// One waiting operation.
// Thread safety: none. Start comes before End.
class Wait {
 public:
  // Registers the wait. False if the caller is cancelled already: `cancel` will not run, and End
  // need not be called. Neither function runs within Start, so the resource's lock may be held.
  bool Start(const Caller& caller, std::string resource, std::function<void()> cancel,
             std::function<std::string()> describe);
  // Call it after the operation has been removed from those that wait. The caller must not hold a
  // lock that `cancel` or `describe` takes. `cancel` may still be running, but finds nothing to
  // cancel.
  void End();

 private:
  CancellationManager* cancellation_ = nullptr;
  CancellationManager::Token token_ = 0;
  Stalls* stalls_ = nullptr;
  Stalls::Entry entry_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_OPS_STATE_WAIT_H_
