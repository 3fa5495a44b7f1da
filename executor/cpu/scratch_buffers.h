// Assigns scratch buffers of a parallel loop to the threads that run its blocks.
#ifndef SLUICE_EXECUTOR_CPU_SCRATCH_BUFFERS_H_
#define SLUICE_EXECUTOR_CPU_SCRATCH_BUFFERS_H_

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <thread>

namespace sluice {

// Says which of a loop's buffers, numbered from 0, are free. The caller owns their memory.
//
// Thread safety: all methods may be called from any thread.
class ScratchBuffers {
 public:
  // The number of buffers for a loop of this many threads. At most 64.
  static int For(int threads) { return std::clamp(threads, 1, 64); }
  explicit ScratchBuffers(int buffers) : free_(~uint64_t{0} >> (64 - buffers)) {}

  // Returns the index of a buffer that no other thread uses until GiveBack. Prefers the buffer that
  // this thread used last, which may still be in its cache. If more threads than buffers call it,
  // it yields until a buffer is free.
  int Take() {
    static thread_local int last = 0;
    for (;;) {
      uint64_t free = free_.load(std::memory_order_acquire);
      while (free != 0) {
        const int buffer = (free >> last & 1) != 0 ? last : std::countr_zero(free);
        if (free_.compare_exchange_weak(free, free & ~(uint64_t{1} << buffer),
                                        std::memory_order_acquire)) {
          return last = buffer;
        }
      }
      std::this_thread::yield();
    }
  }
  void GiveBack(int buffer) { free_.fetch_or(uint64_t{1} << buffer, std::memory_order_release); }

 private:
  std::atomic<uint64_t> free_;  // bit i is set if buffer i is free
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_CPU_SCRATCH_BUFFERS_H_
