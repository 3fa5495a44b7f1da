// Ends the wait of a thread for a file: one that has no bytes yet, such as a FIFO without a writer,
// or one that takes no bytes yet, such as a FIFO whose reader is slow.
//
// The executor implements it for the threads of a step, and for those that read a dataset
// (executor/wait/cancellable_files.h).
//
// Thread safety: each thread has its own waiter.
#ifndef SLUICE_EXECUTOR_FILES_FILE_WAITER_H_
#define SLUICE_EXECUTOR_FILES_FILE_WAITER_H_

#include "absl/status/status.h"

namespace sluice {

enum class FileAccess { kRead, kWrite };

class FileWaiter {
 public:
  // Blocks until the access to the descriptor does not block. An error ends the access.
  virtual absl::Status Await(int descriptor, FileAccess access) = 0;

  // The waiter of the calling thread. Null: its accesses block until they are possible.
  static FileWaiter* Current() { return current_; }

 protected:
  // While it lives, its thread uses it instead of the outer one.
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
