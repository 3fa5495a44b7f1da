// Who of the threads of a loop uses which part of its scratch memory.
#ifndef SLUICE_EXECUTOR_CPU_SCRATCH_BUFFERS_H_
#define SLUICE_EXECUTOR_CPU_SCRATCH_BUFFERS_H_

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <thread>

namespace sluice {

// Thread safety: all methods from any thread.
class ScratchRooms {
 public:
  // The rooms that a loop of so many threads needs.
  static int For(int threads) { return std::clamp(threads, 1, 64); }
  explicit ScratchRooms(int rooms) : free_(~uint64_t{0} >> (64 - rooms)) {}

  // A room that nobody else has until it is given back; if it is free, the one that this thread had
  // last, which lies in its cache. Of more than 64 threads some wait for others' calls to end.
  int Take() {
    static thread_local int last = 0;
    for (;;) {
      uint64_t free = free_.load(std::memory_order_acquire);
      while (free != 0) {
        const int room = (free >> last & 1) != 0 ? last : std::countr_zero(free);
        if (free_.compare_exchange_weak(free, free & ~(uint64_t{1} << room),
                                        std::memory_order_acquire)) {
          return last = room;
        }
      }
      std::this_thread::yield();
    }
  }
  void GiveBack(int room) { free_.fetch_or(uint64_t{1} << room, std::memory_order_release); }

 private:
  std::atomic<uint64_t> free_;  // a bit a room
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_CPU_SCRATCH_BUFFERS_H_
