// Registers operations that wait for a resource. A registered operation can be cancelled, and
// appears in stall reports, which list the operations that wait (executor/wait/stalls.h).
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
  Stalls* stalls = nullptr;                     // null if stall reports do not show the call
  Allocator* allocator = &Heap();
  int64_t step_id = 0;
  std::string_view node;
  std::string_view op;
  int replica = -1;  // the replica that runs the step. -1 if unknown

  bool IsCancelled() const { return cancellation != nullptr && cancellation->IsCancelled(); }
  // CANCELLED if the call is cancelled or its deadline is over. For loops that run long without
  // waiting.
  absl::Status CheckNotCancelled() const;
};

Caller CallerOf(const KernelContext& c);

// One waiting operation.
// Thread safety: none. Start comes before End.
class Wait {
 public:
  // Registers the wait. From then on, `cancel` runs if the caller is cancelled, and `describe` runs
  // for stall reports. Neither runs within Start, so Start may be called with the resource's lock
  // held. Returns false if the caller is cancelled already. Then neither ever runs, and End need
  // not be called.
  bool Start(const Caller& caller, std::string resource, std::function<void()> cancel,
             std::function<std::string()> describe);
  // Ends the registration. Before the call, remove the operation from the resource's waiting
  // operations: `cancel` may still be running after End, and must find nothing to cancel. The
  // caller must not hold a lock that `cancel` or `describe` takes.
  void End();

 private:
  CancellationManager* cancellation_ = nullptr;
  CancellationManager::Token token_ = 0;
  Stalls* stalls_ = nullptr;
  Stalls::Entry entry_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_OPS_STATE_WAIT_H_
