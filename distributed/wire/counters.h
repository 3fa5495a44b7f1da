// What went over the wire of this process: for reports and tests.
#ifndef SLUICE_DISTRIBUTED_WIRE_COUNTERS_H_
#define SLUICE_DISTRIBUTED_WIRE_COUNTERS_H_

#include <atomic>
#include <cstdint>

namespace sluice {

// Bytes of the contents of tensors. `copied`: how often this process moved one from memory to
// memory; the system's own copies into and out of sockets are not seen from here.
struct WireCounters {
  std::atomic<int64_t> sent{0};
  std::atomic<int64_t> received{0};
  std::atomic<int64_t> copied{0};
  // Slices of messages that tensors hold now. Who frees a slice's memory looks here first: so it
  // comes after what was read from it for the thread sanitizer too, which cannot see how gRPC
  // counts references.
  std::atomic<int64_t> lent{0};

  static WireCounters& Global() {
    static WireCounters counters;
    return counters;
  }
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_WIRE_COUNTERS_H_
