#include "executor/wait/claim.h"

namespace sluice {

void Claim::unlock_shared() {
  uint64_t seen = word_.load(std::memory_order_relaxed);
  uint64_t left;
  do {
    left = seen - kReader < kReader ? 0 : seen - kReader;  // the last reader takes the waiters
  } while (!word_.compare_exchange_weak(seen, left, std::memory_order_acq_rel,
                                        std::memory_order_relaxed));
  if (left == 0) Notify(InOrder(seen));
}

bool Claim::Await(Waiter* waiter) {
  uint64_t seen = word_.load(std::memory_order_relaxed);
  uint64_t with_waiter;
  do {
    if (seen == 0) return false;
    waiter->next_ = reinterpret_cast<Waiter*>(seen & kWaiters);
    with_waiter = (seen & ~kWaiters) | reinterpret_cast<uint64_t>(waiter);
  } while (!word_.compare_exchange_weak(seen, with_waiter, std::memory_order_release,
                                        std::memory_order_relaxed));
  return true;
}

Claim::Turn::Turn(Claim& claim) : claim_(claim) {
  is_turn_ = true;
  if (claim_.Await(this)) {
    notified_.acquire();
  } else {
    next_ = nullptr;
  }
}

// Reverses the list of waiters in `word`, which begins with the last one to arrive. Returns the
// first one.
Claim::Waiter* Claim::InOrder(uint64_t word) {
  Waiter* last = reinterpret_cast<Waiter*>(word & kWaiters);
  Waiter* first = nullptr;
  while (last != nullptr) {
    Waiter* const before = last->next_;
    last->next_ = first;
    first = last;
    last = before;
  }
  return first;
}

// Stops after the first Turn. The waiters after it are notified when the Turn is destroyed.
void Claim::Notify(Waiter* first) {
  while (first != nullptr) {
    Waiter* const waiter = first;
    first = waiter->next_;
    const bool is_turn = waiter->is_turn_;
    waiter->OnFree();
    if (is_turn) return;
  }
}

void Claim::AwaitAgain(Waiter* first) {
  while (first != nullptr) {
    Waiter* const waiter = first;
    first = waiter->next_;
    if (Await(waiter)) continue;
    waiter->next_ = nullptr;
    Notify(waiter);
  }
}

}  // namespace sluice
