// Lets a step or the reader of a dataset that is cancelled end its reads of files that wait for
// bytes.
//
//   const CancellableReads reads(cancellation);
//   … ReadWholeFile("/tmp/fifo")   // CANCELLED after cancellation.StartCancel()
//
// Thread safety: each thread makes its own object (executor/files/read_waiter.h).
// Lifetime: the CancellationManager outlives the object.
// Errors: CANCELLED after a cancellation. DEADLINE_EXCEEDED at the manager's deadline.
// RESOURCE_EXHAUSTED if the process has no file descriptor left.
#ifndef SLUICE_EXECUTOR_WAIT_CANCELLABLE_READS_H_
#define SLUICE_EXECUTOR_WAIT_CANCELLABLE_READS_H_

#include "absl/status/status.h"
#include "executor/files/read_waiter.h"
#include "executor/wait/cancellation.h"

namespace sluice {

class CancellableReads final : public ReadWaiter {
 public:
  explicit CancellableReads(CancellationManager& cancellation) : cancellation_(cancellation) {}
  absl::Status AwaitReadable(int descriptor) override;

 private:
  CancellationManager& cancellation_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_WAIT_CANCELLABLE_READS_H_
