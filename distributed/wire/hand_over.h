// What one thread gives to gRPC, and another takes from it again.
#ifndef SLUICE_DISTRIBUTED_WIRE_HAND_OVER_H_
#define SLUICE_DISTRIBUTED_WIRE_HAND_OVER_H_

#include <atomic>

namespace sluice {

// gRPC orders both by locks of its own. ThreadSanitizer cannot see them, since the distribution's
// library is built without it: this is an order that it sees.
class HandOver {
 public:
  void Give() { given_.store(true, std::memory_order_release); }
  void Take() const { static_cast<void>(given_.load(std::memory_order_acquire)); }

 private:
  std::atomic<bool> given_{false};
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_WIRE_HAND_OVER_H_
