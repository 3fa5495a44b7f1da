// A mutex whose use clang's thread-safety analysis checks (-Wthread-safety). Members that the mutex
// guards are declared with ABSL_GUARDED_BY. Functions whose callers must hold the mutex are
// declared with ABSL_EXCLUSIVE_LOCKS_REQUIRED.
//
//   class Counter {
//    public:
//     void Add() {
//       ScopedLock lock(&mutex_);
//       ++count_;
//     }
//
//    private:
//     Mutex mutex_;
//     int count_ ABSL_GUARDED_BY(mutex_) = 0;
//   };
//
// The class wraps std::mutex and not absl::Mutex. The Abseil library of the Linux distribution is
// built without ThreadSanitizer, which therefore does not see the locks of an absl::Mutex.
//
// Thread safety: Mutex and CondVar may be used by any thread, a ScopedLock by the one that made it.
#ifndef SLUICE_GRAPH_MUTEX_H_
#define SLUICE_GRAPH_MUTEX_H_

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"

namespace sluice {

class ABSL_LOCKABLE Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }
  bool TryLock() ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) { return mutex_.try_lock(); }
  // Declares to the analysis that the caller holds the mutex, if the analysis cannot infer it. Does
  // nothing at run time.
  void AssertHeld() const ABSL_ASSERT_EXCLUSIVE_LOCK() {}

 private:
  friend class CondVar;
  std::mutex mutex_;
};

// Holds a mutex for its lifetime, except between Unlock and Lock.
class ABSL_SCOPED_LOCKABLE ScopedLock {
 public:
  explicit ScopedLock(Mutex* mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_->Lock();
  }
  ~ScopedLock() ABSL_UNLOCK_FUNCTION() {
    if (is_held_) mutex_->Unlock();
  }
  ScopedLock(const ScopedLock&) = delete;
  ScopedLock& operator=(const ScopedLock&) = delete;

  // Unlock releases the mutex before the lifetime ends, and Lock takes it again. They enclose code
  // that must run without the mutex.
  void Unlock() ABSL_UNLOCK_FUNCTION() {
    is_held_ = false;
    mutex_->Unlock();
  }
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() {
    mutex_->Lock();
    is_held_ = true;
  }

 private:
  Mutex* const mutex_;
  bool is_held_ = true;
};

// A condition variable for a Mutex. A wait may end without a notification, so callers wait in a
// loop that checks the condition. The loop belongs in the function that locks the mutex. In a
// lambda, the analysis would not see that the mutex is held.
class CondVar {
 public:
  void Wait(Mutex* mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unique_lock<std::mutex> lock(mutex->mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  // WaitUntil waits up to a point in time, WaitFor for a duration. They return false if that time
  // passed without a notification.
  template <typename Clock, typename Duration>
  bool WaitUntil(Mutex* mutex, const std::chrono::time_point<Clock, Duration>& deadline)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unique_lock<std::mutex> lock(mutex->mutex_, std::adopt_lock);
    const bool notified = condition_.wait_until(lock, deadline) == std::cv_status::no_timeout;
    lock.release();
    return notified;
  }
  template <typename Rep, typename Period>
  bool WaitFor(Mutex* mutex, const std::chrono::duration<Rep, Period>& time)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unique_lock<std::mutex> lock(mutex->mutex_, std::adopt_lock);
    const bool notified = condition_.wait_for(lock, time) == std::cv_status::no_timeout;
    lock.release();
    return notified;
  }
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_MUTEX_H_
