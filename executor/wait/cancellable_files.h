// Ends waits on files when a step, or the reading of a dataset, is cancelled. Such waits are reads
// of FIFOs without bytes, and writes to FIFOs that are full.
//
//   const CancellableFiles files(cancellation);
//   … ReadWholeFile("/tmp/fifo")   // CANCELLED after cancellation.StartCancel()
//
// Thread safety: an object serves only the thread that made it, like any FileWaiter. The
// CancellationManager must outlive it.
// Errors: CANCELLED; DEADLINE_EXCEEDED at the manager's deadline or at that of the constructor;
// RESOURCE_EXHAUSTED if the process has no free file descriptor.
#ifndef SLUICE_EXECUTOR_WAIT_CANCELLABLE_FILES_H_
#define SLUICE_EXECUTOR_WAIT_CANCELLABLE_FILES_H_

#include "absl/status/status.h"
#include "executor/files/file_waiter.h"
#include "executor/wait/cancellation.h"

namespace sluice {

class CancellableFiles final : public FileWaiter {
 public:
  using Time = CancellationManager::Time;
  explicit CancellableFiles(CancellationManager& cancellation, Time deadline = Time::max())
      : cancellation_(cancellation), deadline_(deadline) {}
  absl::Status Await(int descriptor, FileAccess access) override;

 private:
  CancellationManager& cancellation_;
  const Time deadline_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_WAIT_CANCELLABLE_FILES_H_
