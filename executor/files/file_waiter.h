// Interface for waits on files that have no bytes yet (a FIFO without a writer) or take no bytes
// yet (a FIFO with a slow reader). An implementation can end the wait with an error.
//
// CancellableFiles (executor/wait/cancellable_files.h) implements it. Cancelling a step, or the
// reading of a dataset, then ends the waits of its threads.
//
// Thread safety: each thread has its own waiter.
#ifndef SLUICE_EXECUTOR_FILES_FILE_WAITER_H_
#define SLUICE_EXECUTOR_FILES_FILE_WAITER_H_

#include "absl/status/status.h"

namespace sluice {

enum class FileAccess { kRead, kWrite };

// The event for which poll() waits before this access.
short PollEventOf(FileAccess access);

class FileWaiter {
 public:
  // Blocks until the descriptor can be read (kRead) or written (kWrite) without blocking. If Await
  // returns an error, the read or write fails with this error.
  virtual absl::Status Await(int descriptor, FileAccess access) = 0;

  // The waiter of the calling thread. Null if there is none. Reads and writes of this thread then
  // block until they are possible.
  static FileWaiter* Current() { return current_; }

 protected:
  // Until its destruction, this object replaces the previous waiter of the calling thread.
  FileWaiter() : outer_(current_) { current_ = this; }
  ~FileWaiter() { current_ = outer_; }
  FileWaiter(const FileWaiter&) = delete;
  FileWaiter& operator=(const FileWaiter&) = delete;

 private:
  static thread_local constinit FileWaiter* current_;
  FileWaiter* const outer_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_FILES_FILE_WAITER_H_
