// Counts the tensor bytes that this process sent and received, for metrics and tests.
#ifndef SLUICE_DISTRIBUTED_MESSAGE_COUNTERS_H_
#define SLUICE_DISTRIBUTED_MESSAGE_COUNTERS_H_

#include <atomic>
#include <cstdint>

namespace sluice {

// Bytes of tensor contents. `copied` counts copies within this process, not the kernel's copies
// into and out of sockets.
struct WireCounters {
  std::atomic<int64_t> sent{0};
  std::atomic<int64_t> received{0};
  std::atomic<int64_t> copied{0};
  // The number of slices of received messages that tensors use at present. A thread decrements it
  // before it frees a slice. This orders the reads of the slice before the free for
  // ThreadSanitizer, which does not see gRPC's reference counts.
  std::atomic<int64_t> lent{0};

  static WireCounters& Global() {
    static WireCounters counters;
    return counters;
  }
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MESSAGE_COUNTERS_H_
