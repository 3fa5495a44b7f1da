// Scratch memory for the shards of one parallel loop. Shards are the parts of a loop that run on
// different threads.
//
// Each thread keeps its memory for later loops, so that later steps allocate none.
//
// Thread safety: any thread may call Get. The caller of the loop calls `status` after the loop.
#ifndef SLUICE_OPS_CONV_LOOP_SCRATCH_H_
#define SLUICE_OPS_CONV_LOOP_SCRATCH_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>

#include "absl/status/status.h"
#include "graph/strings.h"

namespace sluice {

class LoopScratch {
 public:
  // Returns at least `n` elements for the calling thread, 64-byte aligned. They are valid until the
  // thread calls Get<F> again, for this or another LoopScratch. Returns null if there is no memory.
  // The shard must then skip its work.
  template <typename F>
  F* Get(int64_t n) {
    struct Free {
      void operator()(F* p) const { ::operator delete[](p, std::align_val_t(64)); }
    };
    thread_local std::unique_ptr<F[], Free> memory;
    thread_local int64_t size = 0;
    if (size < n) {
      memory.reset();
      memory.reset(static_cast<F*>(::operator new[](static_cast<size_t>(n) * sizeof(F),
                                                    std::align_val_t(64), std::nothrow)));
      size = memory == nullptr ? 0 : n;
    }
    if (memory == nullptr) missing_.store(n, std::memory_order_relaxed);
    return memory.get();
  }
  // RESOURCE_EXHAUSTED if Get returned null in a shard.
  absl::Status status() const {
    const int64_t n = missing_.load(std::memory_order_relaxed);
    if (n == 0) return absl::OkStatus();
    return absl::ResourceExhaustedError(
        StrCat("OOM when allocating scratch memory of ", n, " elements"));
  }

 private:
  std::atomic<int64_t> missing_{0};
};

}  // namespace sluice

#endif  // SLUICE_OPS_CONV_LOOP_SCRATCH_H_
