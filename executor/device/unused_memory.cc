#include "executor/device/unused_memory.h"

#include <malloc.h>

#include <algorithm>

#include "executor/device/pool_allocator.h"

namespace sluice {
namespace {

int64_t FreeHeapBytes() { return static_cast<int64_t>(mallinfo2().fordblks); }

}  // namespace

void UnusedMemory::Return() {
  const bool was_trimmed = PoolAllocator::Global().TrimUnused() > kKeptFreeBytes / 8;
  const int64_t free = FreeHeapBytes();
  returned_at_ = std::min(returned_at_, free);
  // Memory that was free at the last call and still is free is probably not part of a running step.
  if (was_trimmed || std::min(free, last_free_) - returned_at_ > kKeptFreeBytes) {
    malloc_trim(0);
    returned_at_ = free;
  }
  last_free_ = free;
}

void ReturnFreeMemory() {
  PoolAllocator& pool = PoolAllocator::Global();
  if (pool.SystemBytes() - pool.BytesInUse() <= kKeptFreeBytes) return;
  pool.Trim();
  malloc_trim(0);
}

}  // namespace sluice
