// The allocator of steps: blocks are kept when they are freed, and given out again.
//
// A warm step finds every block it needs here, without the system and without a lock: small ones
// with its thread, which keeps free blocks by size class, up to a bound; large ones, and what is
// over, with those that all threads share. Classes are at most 1/8 apart, so at most 1/8 of a large
// block is unused.
//
// Thread safety: all methods from any thread; a block may be freed by another thread than the one
// that took it. The process's pool is never destroyed.
#ifndef SLUICE_EXECUTOR_DEVICE_POOL_ALLOCATOR_H_
#define SLUICE_EXECUTOR_DEVICE_POOL_ALLOCATOR_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "graph/tensor/buffer.h"

namespace sluice {

class PoolAllocator final : public Allocator {
 public:
  // The one that sessions use.
  static PoolAllocator& Global();

  void* Allocate(size_t bytes) override;
  void Deallocate(void* block, size_t bytes) override;

  // How often memory was asked of the system, since the process started: constant over warm steps.
  int64_t SystemAllocations() const;
  // Bytes held, in use or not.
  int64_t SystemBytes() const;
  // Gives the free blocks that all threads share back to the system.
  void Trim();

  // Internal to the implementation: the free blocks of one thread.
  class ThreadCache;

 private:
  PoolAllocator() = default;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_DEVICE_POOL_ALLOCATOR_H_
