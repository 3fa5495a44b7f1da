// What an operation that has to wait shows of itself: it can be cancelled, and it stands in the
// table of stalls while it waits.
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

// Who asks. What it points to is valid until the operation's callback is called.
struct Caller {
  CancellationManager* cancellation = nullptr;  // null: cannot be cancelled
  Stalls* stalls = nullptr;                     // null: not shown
  Allocator* allocator = &Heap();
  int64_t step_id = 0;
  std::string_view node;
  std::string_view op;
  int replica = -1;  // whose step it is; -1: it did not say

  bool IsCancelled() const { return cancellation != nullptr && cancellation->IsCancelled(); }
  // CANCELLED when it is, or its step's time is over: for what goes on without waiting.
  absl::Status CheckWanted() const;
};

Caller CallerOf(const KernelContext& c);

// One blocked operation. Thread safety: none; Start before End, the second without any lock that
// `cancel` or `describe` take.
class Wait {
 public:
  // False when the caller is cancelled already: `cancel` will then not be called, and End need not.
  // May be called with the resource's lock held: neither function is called from here.
  bool Start(const Caller& caller, std::string resource, std::function<void()> cancel,
             std::function<std::string()> describe);
  // After the operation has left its line. `cancel` may still be running, and finds nothing.
  void End();

 private:
  CancellationManager* cancellation_ = nullptr;
  CancellationManager::Token token_ = 0;
  Stalls* stalls_ = nullptr;
  Stalls::Entry entry_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_OPS_STATE_WAIT_H_
