// The heap for values whose sizes a graph, a file or a client chose. It is Heap() with a limit,
// which a server sets for all memory of tensors (executor/device/pool_allocator.h).
//
// Thread safety: all functions may be called from any thread.
#ifndef SLUICE_GRAPH_TENSOR_LIMITED_HEAP_H_
#define SLUICE_GRAPH_TENSOR_LIMITED_HEAP_H_

#include <cstddef>

#include "graph/tensor/buffer.h"

namespace sluice {

// The limit applies to blocks of at least this size. Smaller ones are values such as shapes, for
// which code does not expect an allocation to fail.
inline constexpr size_t kLimitedFrom = 64 << 10;

// Allocates from Heap(). Null also if there is no room for a block of at least kLimitedFrom bytes.
Allocator& LimitedHeap();

// Returns whether a block of so many bytes may be allocated. Called without a lock.
using HasRoom = bool (*)(size_t bytes);
// Null: there is always room.
void SetHeapRoom(HasRoom has_room);

}  // namespace sluice

#endif  // SLUICE_GRAPH_TENSOR_LIMITED_HEAP_H_
