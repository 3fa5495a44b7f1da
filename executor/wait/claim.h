// A Claim is a lock on the value of a variable: many readers hold it at a time, or one writer.
//
// A claim is one atomic word, and kernels do not block on it. A kernel that finds the claim taken
// returns the status of KernelContext::RunAgainAfter. Its thread goes on with other nodes, and the
// node runs again when the claim is released. A thread blocks (in a Turn, `lock` or `lock_shared`)
// only in three cases:
//   1. All nodes of its step or loop form one segment, a list of nodes that one thread runs in
//      order (executor/plan/plan.h). Then the thread has no other node to run.
//   2. It takes the claim in code outside of nodes.
//   3. It runs one of the few kernels that hold a claim very briefly: SdcaShrinkL1, those that call
//      NameInStrings, and those of the strings that name TensorArrays.
//
// std::unique_lock and std::shared_lock take a claim like a mutex; kernels pass std::try_to_lock. A
// claim is not fair: the first thread that tries after the release gets it.
#ifndef SLUICE_EXECUTOR_WAIT_CLAIM_H_
#define SLUICE_EXECUTOR_WAIT_CLAIM_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <semaphore>

#include "absl/types/span.h"

namespace sluice {

// Thread safety: all functions may be called from any thread. `unlock` does not access the claim
// after it has released it, because the next holder may destroy the claim. Neither does
// `unlock_shared`.
class Claim {
 public:
  // An object that waits for the claim. Its OnFree is called once, when the claim may be free, by
  // the thread that releases the claim or by a thread whose Turn ends.
  class alignas(16) Waiter {
   public:
    // May delete the waiter. Must not block, because the thread may hold other claims.
    virtual void OnFree() = 0;

   protected:
    ~Waiter() = default;

   private:
    friend class Claim;
    // While the claim is held: the waiter that arrived before this one. Once the claim is released:
    // the waiter that arrived after this one. Null if there is none.
    Waiter* next_ = nullptr;
    bool is_turn_ = false;
  };

  // A Turn blocks the calling thread: its constructor returns when the claim is released, or
  // immediately if the claim is free. The thread may then try to take the claim. Waiters that
  // arrived after the Turn wait at least until it is destroyed, so that one blocked thread wakes at
  // a time. While the Turn exists, its thread must not wait for another claim.
  class Turn final : private Waiter {
   public:
    explicit Turn(Claim& claim);
    ~Turn() { claim_.AwaitAgain(next_); }

   private:
    friend class Claim;
    void OnFree() override { notified_.release(); }
    Claim& claim_;
    std::binary_semaphore notified_{0};
  };

  Claim() = default;
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  // Takes the claim for writing. Returns false, at once, if any thread holds it.
  bool try_lock() {
    uint64_t seen = 0;
    return word_.compare_exchange_strong(seen, kWriter, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }
  void unlock() {
    uint64_t seen = kWriter;
    if (!word_.compare_exchange_strong(seen, 0, std::memory_order_release,
                                       std::memory_order_relaxed)) {
      Notify(InOrder(word_.exchange(0, std::memory_order_acq_rel)));
    }
  }
  // Takes the claim for reading. Returns false, at once, if a writer holds it.
  bool try_lock_shared() {
    uint64_t seen = word_.load(std::memory_order_relaxed);
    while ((seen & kWriter) == 0) {
      if (word_.compare_exchange_weak(seen, seen + kReader, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  void unlock_shared();

  // Stores `waiter`, whose OnFree is called when the claim is released, and returns true. If the
  // claim is free, returns false and does not store the waiter.
  bool Await(Waiter* waiter);
  void lock() {
    LockBy([this] { return try_lock(); });
  }
  void lock_shared() {
    LockBy([this] { return try_lock_shared(); });
  }
  // Blocks until `try_to_lock`, a function that tries to take this claim, returns true.
  template <typename Try>
  void LockBy(Try try_to_lock) {
    while (!try_to_lock()) {
      const Turn turn(*this);
      if (try_to_lock()) return;
    }
  }

 private:
  // The parts of the word: bit 0 is set while a writer holds the claim, bits 4 to 47 are the
  // address of the waiter that arrived last, and bits 48 to 63 are the number of readers. Waiters
  // are stored only while the claim is held.
  static constexpr uint64_t kWriter = 1;
  static constexpr uint64_t kReader = uint64_t{1} << 48;
  static constexpr uint64_t kWaiters = kReader - 16;
  static Waiter* InOrder(uint64_t word);
  static void Notify(Waiter* first);
  void AwaitAgain(Waiter* first);

  std::atomic<uint64_t> word_{0};
};

// Tries to take all `claims` for writing. The claims are sorted by address and distinct, and
// `locks` has one element per claim. Returns null if it took all: locks[i] then holds claims[i].
// Otherwise it takes none, and returns a claim that another thread holds.
template <typename C>
C* TryLockAll(absl::Span<C* const> claims, std::unique_lock<C>* locks) {
  for (size_t i = 0; i < claims.size(); ++i) {
    locks[i] = std::unique_lock<C>(*claims[i], std::try_to_lock);
    if (locks[i].owns_lock()) continue;
    for (size_t had = 0; had < i; ++had) locks[had].unlock();
    return claims[i];
  }
  return nullptr;
}

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_WAIT_CLAIM_H_
