#include "graph/tensor/limited_heap.h"

#include <atomic>

namespace sluice {
namespace {

std::atomic<HasRoom> heap_room{nullptr};

class LimitedHeapAllocator final : public Allocator {
 public:
  void* Allocate(size_t bytes) override {
    if (bytes >= kLimitedFrom) {
      const HasRoom has_room = heap_room.load(std::memory_order_relaxed);
      if (has_room != nullptr && !has_room(bytes)) return nullptr;
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

void SetHeapRoom(HasRoom has_room) { heap_room.store(has_room, std::memory_order_relaxed); }

}  // namespace sluice
