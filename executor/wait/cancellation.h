// Lets a step or a caller cancel blocked operations.
//
//   CancellationManager::Token token = manager->NewToken();
//   if (!manager->Register(token, [=] { … })) return Cancelled;   // already cancelled
//   … later, when the operation has ended by itself:
//   manager->Deregister(token);
//
// Thread safety: all methods may be called from any thread. A callback runs at most once, on the
// thread that cancels, without a lock of this class. It must not block, and must not destroy the
// manager.
#ifndef SLUICE_EXECUTOR_WAIT_CANCELLATION_H_
#define SLUICE_EXECUTOR_WAIT_CANCELLATION_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <unordered_map>

#include "graph/mutex.h"

namespace sluice {

class CancellationManager {
 public:
  using Token = int64_t;
  using Callback = std::function<void()>;
  using Time = std::chrono::steady_clock::time_point;

  // The time in `timeout_ms` milliseconds. Time::max(), which means never, if timeout_ms is not
  // positive or is more than a hundred years.
  static Time DeadlineAfter(int64_t timeout_ms);

  CancellationManager() = default;
  // Makes a child, which is cancelled with its parent and takes over the parent's present deadline.
  // The parent outlives the child.
  explicit CancellationManager(CancellationManager* parent);
  // Separates the manager from its parent. All callbacks must have run or been deregistered before.
  ~CancellationManager();
  CancellationManager(const CancellationManager&) = delete;
  CancellationManager& operator=(const CancellationManager&) = delete;

  // Cancels the work: runs all callbacks before it returns. Later calls do nothing.
  void StartCancel();
  bool IsCancelled() const { return cancelled_.load(std::memory_order_acquire); }

  // The deadline of the work that can be cancelled; Time::max() means none. The manager does not
  // cancel itself at the deadline: the thread that waits for the work cancels it, and work that
  // never waits checks IsWanted. Only the owner sets the deadline, before other threads see the
  // object.
  void set_deadline(Time deadline) { deadline_ = deadline; }
  Time deadline() const { return deadline_; }
  // False after a cancellation or past the deadline.
  bool IsWanted() const;

  Token NewToken() { return next_token_.fetch_add(1, std::memory_order_relaxed); }
  // False if the manager is cancelled already: the callback is then not kept and will not run.
  bool Register(Token token, Callback callback);
  // Returns true if the callback was removed before it ran. Otherwise waits until it has run, and
  // returns false. In both cases the callback does not run after this call, so what it captured may
  // be destroyed. Do not call it while holding a lock that the callback takes.
  bool Deregister(Token token);
  // Like Deregister, but does not wait: if it returns false, the callback may still be running.
  bool TryDeregister(Token token);

  // Waits for callbacks that are still running, and makes the manager usable again after a
  // cancellation. To be called by the owner between two uses, when no other thread uses the
  // manager.
  void Reset();

 private:
  void WaitForCallbacks() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  CancellationManager* const parent_ = nullptr;
  Token parent_token_ = 0;
  Time deadline_ = Time::max();
  std::atomic<bool> cancelled_{false};
  std::atomic<Token> next_token_{1};
  Mutex mutex_;
  CondVar idle_;
  bool running_callbacks_ ABSL_GUARDED_BY(mutex_) = false;
  std::unordered_map<Token, Callback> callbacks_ ABSL_GUARDED_BY(mutex_);
};

// While this object lives, cancels `to` when `from` is cancelled. If `from` is cancelled already,
// the constructor cancels `to`. `from` may be null.
class LinkedCancellation {
 public:
  LinkedCancellation(CancellationManager* from, CancellationManager& to)
      : from_(from), token_(from == nullptr ? 0 : from->NewToken()) {
    if (from_ == nullptr || from_->Register(token_, [&to] { to.StartCancel(); })) return;
    from_ = nullptr;
    to.StartCancel();
  }
  ~LinkedCancellation() {
    if (from_ != nullptr) from_->Deregister(token_);
  }
  LinkedCancellation(const LinkedCancellation&) = delete;
  LinkedCancellation& operator=(const LinkedCancellation&) = delete;

 private:
  CancellationManager* from_;
  const CancellationManager::Token token_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_WAIT_CANCELLATION_H_
