// LimitedHeap() is the allocator for values whose sizes a graph, a file or a client chose. It is
// Heap() with a limit, which a server sets for all memory of tensors
// (executor/device/pool_allocator.h).
//
// Thread safety: all functions may be called from any thread. A HeldBytes is used by one thread at
// a time.
#ifndef SLUICE_GRAPH_TENSOR_LIMITED_HEAP_H_
#define SLUICE_GRAPH_TENSOR_LIMITED_HEAP_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "graph/tensor/buffer.h"

namespace sluice {

// Blocks of at least this size may only use a part of the limit (PoolAllocator::SetLimit).
inline constexpr size_t kLimitedFrom = 64 << 10;

// An allocator that takes blocks from Heap(), and returns null if the limit is reached. It checks
// the limit for each block of at least kLimitedFrom bytes. For smaller blocks it checks each time
// that a thread has allocated kLimitedFrom bytes in total, so that many small blocks cannot exceed
// the limit.
Allocator& LimitedHeap();

// Bytes that another library has allocated, such as those of a message. They count for the limit
// while the object lives.
class HeldBytes {
 public:
  HeldBytes() = default;
  HeldBytes(HeldBytes&& other) noexcept : bytes_(std::exchange(other.bytes_, 0)) {}
  HeldBytes& operator=(HeldBytes&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~HeldBytes();
  // Adds to the bytes. Returns false and changes nothing if the limit does not permit it.
  [[nodiscard]] bool Add(size_t bytes);
  // Moves the bytes of `other` to this object.
  void Take(HeldBytes other) { bytes_ += std::exchange(other.bytes_, 0); }
  // The bytes that all objects of the process hold together.
  static int64_t All();

 private:
  size_t bytes_ = 0;
};

enum class RoomFor {
  kNewBlock,
  kHeldBytes,  // bytes that are allocated already
};
// Returns whether the limit permits `bytes` more bytes. Any thread may call it. The caller holds no
// lock of this file.
using HasRoom = bool (*)(size_t bytes, RoomFor use);
// Sets the function that checks the limit for LimitedHeap and HeldBytes. Null means no limit.
void SetHeapRoom(HasRoom has_room);

}  // namespace sluice

#endif  // SLUICE_GRAPH_TENSOR_LIMITED_HEAP_H_
