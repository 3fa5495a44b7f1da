// A lock for the value of a variable: many readers at a time, or one writer.
//
// A claim is one atomic word, and kernels do not block on it. A kernel that finds the claim taken
// returns KernelContext::RunAgainAfter. Its thread goes on with other nodes, and the node runs
// again when the claim is released. A thread blocks, in a Turn or in `lock`, only if it has no
// other work: in steps and loops of one segment (executor/plan/plan.h), in code outside of nodes,
// and in a few kernels that hold a claim very briefly (SdcaShrinkL1, NameInStrings, the strings of
// TensorArrays).
//
// std::unique_lock and std::shared_lock take a claim with std::try_to_lock, like a mutex. A claim
// is not fair: the first thread that tries after the release gets it.
#ifndef SLUICE_EXECUTOR_WAIT_CLAIM_H_
#define SLUICE_EXECUTOR_WAIT_CLAIM_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <semaphore>

#include "absl/types/span.h"

namespace sluice {

// Thread safety: all functions may be called from any thread. A call that has changed the word does
// not touch the claim again, because the next holder may destroy it.
class Claim {
 public:
  // The thread that releases the claim calls OnFree once, to report that the claim may be free.
  class alignas(16) Waiter {
   public:
    // May delete the waiter. Must not block, because the thread may hold other claims.
    virtual void OnFree() = 0;

   protected:
    ~Waiter() = default;

   private:
    friend class Claim;
    // The waiter that arrived before this one. Once the claim is released: the one that arrived
    // after it.
    Waiter* next_ = nullptr;
    bool is_turn_ = false;
  };

  // Blocks the calling thread: the constructor returns when the claim is released, or immediately
  // if the claim is free. The thread may then try to take the claim. Waiters that came later are
  // not notified before this object is destroyed, so that one thread wakes at a time. Until then
  // this thread must not wait for another claim.
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

  // Takes the claim for writing. False if any thread holds it.
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
  // Takes the claim for reading. False if a writer holds it.
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

  // Keeps `waiter`, and notifies it when the claim is released. If the claim is free, returns false
  // and does not keep the waiter.
  bool Await(Waiter* waiter);
  void lock() {
    LockBy([this] { return try_lock(); });
  }
  void lock_shared() {
    LockBy([this] { return try_lock_shared(); });
  }
  // Blocks until `try_to_lock` returns true.
  template <typename Try>
  void LockBy(Try try_to_lock) {
    while (!try_to_lock()) {
      const Turn turn(*this);
      if (try_to_lock()) return;
    }
  }

 private:
  // The word holds the address of the last waiter (whose low and high bits are free), the number of
  // readers, and whether there is a writer. Waiters exist only while the claim is held.
  static constexpr uint64_t kWriter = 1;
  static constexpr uint64_t kReader = uint64_t{1} << 48;
  static constexpr uint64_t kWaiters = kReader - 16;
  static Waiter* InOrder(uint64_t word);
  static void Notify(Waiter* first);
  void AwaitAgain(Waiter* first);

  std::atomic<uint64_t> word_{0};
};

// Tries to take all `claims`, which are sorted and distinct, for writing, so that locks[i] holds
// claims[i]. Returns null if it took all. Otherwise it takes none, and returns a claim that another
// thread holds.
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
