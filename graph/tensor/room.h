// Checks that there is memory for a number of elements that a graph, an attribute or a feed chose.
// Must be called before a container of that size is constructed, because without memory that ends
// the program.
//
// Thread safety: a pure function.
#ifndef SLUICE_GRAPH_TENSOR_ROOM_H_
#define SLUICE_GRAPH_TENSOR_ROOM_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

namespace sluice {

// `bytes` is the size of each element. RESOURCE_EXHAUSTED "expected memory for 7 sparse tensors,
// got none".
absl::Status CheckRoom(int64_t count, size_t bytes, std::string_view what);

}  // namespace sluice

#endif  // SLUICE_GRAPH_TENSOR_ROOM_H_
