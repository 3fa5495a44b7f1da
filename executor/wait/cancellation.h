// How a step, or a caller, tells blocked operations to give up.
//
//   CancellationManager::Token token = manager->NewToken();
//   if (!manager->Register(token, [=] { … })) return Cancelled;   // already cancelled
//   … later, when the operation ended by itself:
//   manager->Deregister(token);
//
// Thread safety: all methods from any thread. Callbacks run once, in the thread that cancels, with
// no lock of this class held; they must not block, and must not destroy the manager.
#ifndef SLUICE_EXECUTOR_WAIT_CANCELLATION_H_
#define SLUICE_EXECUTOR_WAIT_CANCELLATION_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_map>

namespace sluice {

class CancellationManager {
 public:
  using Token = int64_t;
  using Callback = std::function<void()>;
  using Time = std::chrono::steady_clock::time_point;

  CancellationManager() = default;
  // A child is cancelled with its parent, which must outlive it, and has its deadline.
  explicit CancellationManager(CancellationManager* parent);
  // Leaves the parent. No callback may be left.
  ~CancellationManager();
  CancellationManager(const CancellationManager&) = delete;
  CancellationManager& operator=(const CancellationManager&) = delete;

  // Runs all callbacks, before it returns. Later calls do nothing.
  void StartCancel();
  bool IsCancelled() const { return cancelled_.load(std::memory_order_acquire); }

  // When what this can cancel has to be over; Time::max(): whenever. Nobody cancels it then:
  // whoever waits for it does, and work that goes on without waiting asks IsWanted. For the owner,
  // before others see this object.
  void set_deadline(Time deadline) { deadline_ = deadline; }
  Time deadline() const { return deadline_; }
  // False when cancelled, or the deadline is over.
  bool IsWanted() const;

  Token NewToken() { return next_token_.fetch_add(1, std::memory_order_relaxed); }
  // False when cancelled already: the callback is not kept and will not run.
  bool Register(Token token, Callback callback);
  // True: the callback was taken back and will not run. False: it ran, or waits here until it has
  // run; so after the call it does not touch what it captured. Never call it while holding a lock
  // that the callback takes.
  bool Deregister(Token token);
  // The same without waiting: false when the callback may be running.
  bool TryDeregister(Token token);

  // For the owner between two uses, when nobody else holds it: waits for callbacks that still run,
  // and forgets the cancellation.
  void Reset();

 private:
  CancellationManager* const parent_ = nullptr;
  Token parent_token_ = 0;
  Time deadline_ = Time::max();
  std::atomic<bool> cancelled_{false};
  std::atomic<Token> next_token_{1};
  std::mutex mutex_;
  std::condition_variable idle_;
  bool running_callbacks_ = false;                 // guarded by mutex_
  std::unordered_map<Token, Callback> callbacks_;  // guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_WAIT_CANCELLATION_H_
