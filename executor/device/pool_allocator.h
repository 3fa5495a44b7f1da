// The allocator of steps, which keeps freed blocks for the next steps.
//
// A warm step gets every block from the pool, without the system and without a lock. Each thread
// keeps a bounded number of small free blocks by size class. Large blocks and the surplus of the
// threads are shared. Size classes are at most 1/8 apart, so at most 1/8 of a large block is
// unused.
//
// Thread safety: all methods may be called from any thread. A block may be freed by another thread
// than the one that allocated it.
// Lifetime: the process's pool is never destroyed.
#ifndef SLUICE_EXECUTOR_DEVICE_POOL_ALLOCATOR_H_
#define SLUICE_EXECUTOR_DEVICE_POOL_ALLOCATOR_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "graph/tensor/buffer.h"

namespace sluice {

class PoolAllocator final : public Allocator {
 public:
  // The pool that sessions use.
  static PoolAllocator& Global();

  void* Allocate(size_t bytes) override;
  void Deallocate(void* block, size_t bytes) override;

  // Allocations from the system since the process started. Constant over warm steps.
  int64_t SystemAllocations() const;
  // Bytes held, used or free.
  int64_t SystemBytes() const;
  // Returns the shared free blocks to the system.
  void Trim();

  // The free blocks of one thread; internal to the implementation.
  class ThreadCache;

 private:
  PoolAllocator() = default;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_DEVICE_POOL_ALLOCATOR_H_
