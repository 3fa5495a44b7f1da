// Counts the open calls of a client or server, so that its destructor can wait until all have
// ended.
//
// Thread safety: all methods may be called from any thread. The owner may be destroyed as soon as
// the last End has released the lock, because End uses nothing after that.
#ifndef SLUICE_DISTRIBUTED_MESSAGE_OPEN_CALLS_H_
#define SLUICE_DISTRIBUTED_MESSAGE_OPEN_CALLS_H_

#include <chrono>

#include "graph/mutex.h"

namespace sluice {

class OpenCalls {
 public:
  // Returns false, and counts nothing, after Close.
  bool Begin() {
    ScopedLock lock(&mutex_);
    if (closed_) return false;
    ++count_;
    return true;
  }
  void End() {
    ScopedLock lock(&mutex_);
    if (--count_ == 0) changed_.NotifyAll();
  }
  // Makes Begin fail from now on.
  void Close() {
    ScopedLock lock(&mutex_);
    closed_ = true;
  }
  // Waits until no call is open, but not after `deadline`.
  void AwaitNone(std::chrono::steady_clock::time_point deadline = kNever) {
    ScopedLock lock(&mutex_);
    while (count_ > 0) {
      if (deadline == kNever) {
        changed_.Wait(&mutex_);
      } else if (!changed_.WaitUntil(&mutex_, deadline)) {
        return;
      }
    }
  }

 private:
  static constexpr auto kNever = std::chrono::steady_clock::time_point::max();

  Mutex mutex_;
  CondVar changed_;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MESSAGE_OPEN_CALLS_H_
