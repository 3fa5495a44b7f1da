// Returns memory that is not used any more to the system: free blocks of the pool of tensors, and
// free pages of the heap.
//
// Freed memory stays with the process, so that the next step need not get it from the system. After
// a large graph this may be gigabytes. A server therefore calls UnusedMemory::Return at intervals.
//
// Thread safety: ReturnFreeMemory may be called from any thread. One thread at a time may use an
// UnusedMemory.
// Cost: a call that returns nothing looks at the lists of free blocks, which takes microseconds.
#ifndef SLUICE_EXECUTOR_DEVICE_UNUSED_MEMORY_H_
#define SLUICE_EXECUTOR_DEVICE_UNUSED_MEMORY_H_

#include <cstdint>

namespace sluice {

// A threshold in bytes: up to this much unused memory is not worth returning.
inline constexpr int64_t kKeptFreeBytes = int64_t{64} << 20;

// Return gives the system the memory that was not used since the last call. Steps that run all the
// time keep the memory that they use.
class UnusedMemory {
 public:
  void Return();

 private:
  // The number of free bytes in the heap at the last call of Return. Memory is unused if it was
  // free then and is free now.
  int64_t last_free_ = 0;
  // The number of free bytes after the last malloc_trim, or the smallest number since. Return does
  // not count these bytes as unused, because malloc still counts pages as free that it has returned
  // to the system.
  int64_t returned_at_ = 0;
};

// Returns all free memory to the system if the pool has more than kKeptFreeBytes in free blocks.
void ReturnFreeMemory();

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_DEVICE_UNUSED_MEMORY_H_
