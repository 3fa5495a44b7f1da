// Who looks at a variable, and who changes it: many at a time, or one alone.
//
// A claim is one word that is changed at once, and no thread waits for it: a kernel that finds it
// taken returns KernelContext::RunAgainAfter, its thread goes on with other nodes, and the node is
// run again when the claim is given back. Only who has nothing else to do waits with its thread, in
// a Turn or in `lock`: steps and loops of one segment, code outside of nodes, and a few kernels for
// moments (SdcaShrinkL1, NameInStrings, the strings of TensorArrays).
//
// std::unique_lock and std::shared_lock take it as they take a mutex, with std::try_to_lock. Not
// fair: who comes first after it was given back has it.
#ifndef SLUICE_EXECUTOR_WAIT_CLAIM_H_
#define SLUICE_EXECUTOR_WAIT_CLAIM_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <semaphore>

#include "absl/types/span.h"

namespace sluice {

// Thread safety: all functions from any thread. Once a call has changed the word it does not look
// at the claim again, which whoever comes next may then destroy.
class Claim {
 public:
  // Is told once that the claim may be free: by the thread that gives it back.
  class alignas(16) Waiter {
   public:
    // May delete the waiter. Must not block: other claims may be held.
    virtual void OnFree() = 0;

   protected:
    ~Waiter() = default;

   private:
    friend class Claim;
    Waiter* next_ = nullptr;  // who came after it, once it is told
    bool is_turn_ = false;
  };

  // A thread that waits: the constructor returns when the claim was given back, or at once where
  // nobody has it. Those who came later are told when the turn ends, so that one thread is woken at
  // a time; until then the thread waits for no other claim.
  class Turn final : private Waiter {
   public:
    explicit Turn(Claim& claim);
    ~Turn() { claim_.AwaitAgain(next_); }

   private:
    friend class Claim;
    void OnFree() override { told_.release(); }
    Claim& claim_;
    std::binary_semaphore told_{0};
  };

  Claim() = default;
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  // Alone. False where anybody has it.
  bool try_lock() {
    uint64_t seen = 0;
    return word_.compare_exchange_strong(seen, kAlone, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }
  void unlock() {
    uint64_t seen = kAlone;
    if (!word_.compare_exchange_strong(seen, 0, std::memory_order_release,
                                       std::memory_order_relaxed)) {
      Tell(InOrder(word_.exchange(0, std::memory_order_acq_rel)));
    }
  }
  // With others that look. False where somebody has it alone.
  bool try_lock_shared() {
    uint64_t seen = word_.load(std::memory_order_relaxed);
    while ((seen & kAlone) == 0) {
      if (word_.compare_exchange_weak(seen, seen + kReader, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  void unlock_shared();

  // Tells `waiter` when the claim is given back. False where nobody has it: the waiter is not kept.
  bool Await(Waiter* waiter);
  void lock() {
    LockBy([this] { return try_lock(); });
  }
  void lock_shared() {
    LockBy([this] { return try_lock_shared(); });
  }
  // Until `try_to_lock` says true.
  template <typename Try>
  void LockBy(Try try_to_lock) {
    while (!try_to_lock()) {
      const Turn turn(*this);
      if (try_to_lock()) return;
    }
  }

 private:
  // The word: the last of the waiters, whose address has its low and its high bits free; how many
  // look; whether one has it alone. There are waiters only while somebody has it.
  static constexpr uint64_t kAlone = 1;
  static constexpr uint64_t kReader = uint64_t{1} << 48;
  static constexpr uint64_t kWaiters = kReader - 16;
  static Waiter* InOrder(uint64_t word);
  static void Tell(Waiter* first);
  void AwaitAgain(Waiter* first);

  std::atomic<uint64_t> word_{0};
};

// All of `claims`, which are sorted and different, alone: locks[i] has claims[i]. Returns null, or
// one that somebody has; then none is held.
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
