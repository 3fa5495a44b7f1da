// Checks that there is memory for a number of elements that a graph, an attribute or a feed chose.
// Call it before constructing a container of that size. Otherwise the container throws
// std::bad_alloc, which ends the program if nothing catches it (executor/wait/out_of_memory.h).
//
// Thread safety: a pure function.
#ifndef SLUICE_GRAPH_TENSOR_ROOM_H_
#define SLUICE_GRAPH_TENSOR_ROOM_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

namespace sluice {

// `bytes` is the size of each element. RESOURCE_EXHAUSTED if there is no memory: "expected memory
// for 7 sparse tensors, got none", for count = 7 and what = "sparse tensors".
absl::Status CheckRoom(int64_t count, size_t bytes, std::string_view what);

}  // namespace sluice

#endif  // SLUICE_GRAPH_TENSOR_ROOM_H_
