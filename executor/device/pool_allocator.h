// The allocator of steps, which keeps freed blocks for the next steps.
//
// A warm step, one that has run before, gets every block from the pool, without the system and
// without a lock. Each thread keeps a bounded number of small free blocks by size class. Other free
// blocks are shared by all threads. Size classes are at most 1/8 apart, so at most 1/8 of a large
// block is unused.
//
// A process may limit its memory for tensors. The limit covers the blocks that the pool holds, used
// or free, the blocks of LimitedHeap, and the bytes of HeldBytes (graph/tensor/limited_heap.h).
// Large blocks are also refused if memory that is not counted, such as strings, has let the
// process's heap grow too much. The limit costs warm steps nothing, because it is only checked
// before a block is allocated from the system.
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

  // The number of allocations from the system since the process started. Warm steps add none.
  int64_t SystemAllocations() const;
  // The bytes that the pool holds in blocks, used or free.
  int64_t SystemBytes() const;
  // The bytes of used blocks, and of the free blocks that threads keep for themselves.
  int64_t BytesInUse() const;
  // Returns the shared free blocks of more than 4 KB to the system. Smaller ones never go back.
  void Trim();
  // Gives the shared blocks that have been free since the last call back to the system, and returns
  // the number of their bytes. If the time between two calls is longer than a step, warm steps keep
  // all blocks that they use.
  int64_t TrimUnused();

  // Limits the memory of the pool and of LimitedHeap to `bytes`. 0 means no limit. Beyond the limit
  // Allocate returns null. Blocks of at least kLimitedFrom bytes (64 KB) may use only 15/16 of the
  // limit, so that steps that need only small blocks can go on.
  void SetLimit(int64_t bytes);
  int64_t Limit() const;
  // The bytes that count toward the limit: those of the pool, of LimitedHeap and of HeldBytes, and
  // the growth of the rest of the heap, as it was last measured.
  int64_t LimitedBytes() const;

  // The free blocks that one thread keeps for itself. Internal to the implementation.
  class ThreadCache;

 private:
  PoolAllocator() = default;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_DEVICE_POOL_ALLOCATOR_H_
