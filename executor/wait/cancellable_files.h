// Ends waiting for files when a step or the reading of a dataset is cancelled: reads of FIFOs
// without bytes, and writes to FIFOs that are full.
//
//   const CancellableFiles files(cancellation);
//   … ReadWholeFile("/tmp/fifo")   // CANCELLED after cancellation.StartCancel()
//
// Thread safety: as FileWaiter. The manager outlives the object.
// Errors: CANCELLED; DEADLINE_EXCEEDED at the manager's deadline; RESOURCE_EXHAUSTED if the process
// has no free file descriptor.
#ifndef SLUICE_EXECUTOR_WAIT_CANCELLABLE_FILES_H_
#define SLUICE_EXECUTOR_WAIT_CANCELLABLE_FILES_H_

#include "absl/status/status.h"
#include "executor/files/file_waiter.h"
#include "executor/wait/cancellation.h"

namespace sluice {

class CancellableFiles final : public FileWaiter {
 public:
  explicit CancellableFiles(CancellationManager& cancellation) : cancellation_(cancellation) {}
  absl::Status Await(int descriptor, FileAccess access) override;

 private:
  CancellationManager& cancellation_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_WAIT_CANCELLABLE_FILES_H_
