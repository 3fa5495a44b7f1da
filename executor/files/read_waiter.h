// Ends the wait of a thread for a file that has no bytes yet, such as a FIFO without a writer.
//
// The executor implements it for the threads of a step, and for the threads that read a dataset
// (executor/wait/cancellable_reads.h).
//
// Thread safety: each thread has its own waiter.
#ifndef SLUICE_EXECUTOR_FILES_READ_WAITER_H_
#define SLUICE_EXECUTOR_FILES_READ_WAITER_H_

#include "absl/status/status.h"

namespace sluice {

class ReadWaiter {
 public:
  // Blocks until a read of the descriptor would not block. If it returns an error, the read fails.
  virtual absl::Status AwaitReadable(int descriptor) = 0;

  // The waiter of the calling thread. Null: the thread's reads block until there are bytes.
  static ReadWaiter* Current() { return current_; }

 protected:
  // While the object lives, the thread that made it uses this waiter instead of its previous one.
  ReadWaiter() : outer_(current_) { current_ = this; }
  ~ReadWaiter() { current_ = outer_; }
  ReadWaiter(const ReadWaiter&) = delete;
  ReadWaiter& operator=(const ReadWaiter&) = delete;

 private:
  static thread_local constinit ReadWaiter* current_;
  ReadWaiter* const outer_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_FILES_READ_WAITER_H_
