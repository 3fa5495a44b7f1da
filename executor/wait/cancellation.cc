#include "executor/wait/cancellation.h"

#include <utility>

namespace sluice {

CancellationManager::Time CancellationManager::DeadlineAfter(int64_t timeout_ms) {
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 36525);
  const std::chrono::milliseconds timeout(timeout_ms);
  if (timeout.count() <= 0 || timeout > kLongest) return Time::max();
  return std::chrono::steady_clock::now() + timeout;
}

CancellationManager::CancellationManager(CancellationManager* parent)
    : parent_(parent), deadline_(parent->deadline()) {
  parent_token_ = parent_->NewToken();
  if (!parent_->Register(parent_token_, [this] { StartCancel(); })) {
    cancelled_.store(true, std::memory_order_release);
  }
}

CancellationManager::~CancellationManager() {
  if (parent_ != nullptr) parent_->Deregister(parent_token_);
}

bool CancellationManager::IsWanted() const {
  if (IsCancelled()) return false;
  return deadline_ == Time::max() || std::chrono::steady_clock::now() < deadline_;
}

void CancellationManager::StartCancel() {
  std::unordered_map<Token, Callback> callbacks;
  {
    ScopedLock lock(&mutex_);
    if (cancelled_.load(std::memory_order_relaxed)) return;
    cancelled_.store(true, std::memory_order_release);
    running_callbacks_ = true;
    callbacks.swap(callbacks_);
  }
  for (auto& [token, callback] : callbacks) callback();
  callbacks.clear();
  {
    ScopedLock lock(&mutex_);
    running_callbacks_ = false;
    idle_.NotifyAll();  // under the lock: a waiter may destroy this object next
  }
}

bool CancellationManager::Register(Token token, Callback callback) {
  ScopedLock lock(&mutex_);
  if (cancelled_.load(std::memory_order_relaxed)) return false;
  callbacks_.emplace(token, std::move(callback));
  return true;
}

bool CancellationManager::Deregister(Token token) {
  ScopedLock lock(&mutex_);
  if (callbacks_.erase(token) != 0) return true;
  WaitForCallbacks();
  return false;
}

void CancellationManager::WaitForCallbacks() {
  while (running_callbacks_) idle_.Wait(&mutex_);
}

bool CancellationManager::TryDeregister(Token token) {
  ScopedLock lock(&mutex_);
  return callbacks_.erase(token) != 0;
}

void CancellationManager::Reset() {
  ScopedLock lock(&mutex_);
  WaitForCallbacks();
  callbacks_.clear();
  cancelled_.store(false, std::memory_order_release);
}

}  // namespace sluice
