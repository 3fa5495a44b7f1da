#include "graph/tensor/limited_heap.h"

#include <algorithm>
#include <atomic>

namespace sluice {
namespace {

std::atomic<HasRoom> heap_room{nullptr};
std::atomic<int64_t> held_bytes{0};

bool IsThereRoom(size_t bytes, RoomFor use) {
  const HasRoom has_room = heap_room.load(std::memory_order_relaxed);
  return has_room == nullptr || has_room(bytes, use);
}

class LimitedHeapAllocator final : public Allocator {
 public:
  void* Allocate(size_t bytes) override {
    // Without a sum over small blocks a client could take all memory in many of them.
    static thread_local size_t unchecked = 0;
    unchecked += std::min(bytes, kLimitedFrom);
    if (unchecked >= kLimitedFrom) {
      if (!IsThereRoom(bytes, RoomFor::kNewBlock)) {
        unchecked = kLimitedFrom;  // so that the next block is checked too
        return nullptr;
      }
      unchecked = 0;
    }
    return Heap().Allocate(bytes);
  }
  void Deallocate(void* block, size_t bytes) override { Heap().Deallocate(block, bytes); }
};

}  // namespace

Allocator& LimitedHeap() {
  static auto* const heap = new LimitedHeapAllocator;  // outlives every static tensor
  return *heap;
}

bool HeldBytes::Add(size_t bytes) {
  if (!IsThereRoom(bytes, RoomFor::kHeldBytes)) return false;
  bytes_ += bytes;
  held_bytes.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  return true;
}

HeldBytes::~HeldBytes() {
  if (bytes_ > 0) held_bytes.fetch_sub(static_cast<int64_t>(bytes_), std::memory_order_relaxed);
}

int64_t HeldBytes::All() { return held_bytes.load(std::memory_order_relaxed); }

void SetHeapRoom(HasRoom has_room) { heap_room.store(has_room, std::memory_order_relaxed); }

}  // namespace sluice
