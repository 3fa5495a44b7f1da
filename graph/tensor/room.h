// Whether there is memory for as much as a graph, an attribute or a feed asks for. Asked before a
// container of that size is made: it would end the program where there is none.
//
// Thread safety: a pure function.
#ifndef SLUICE_GRAPH_TENSOR_ROOM_H_
#define SLUICE_GRAPH_TENSOR_ROOM_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

namespace sluice {

// RESOURCE_EXHAUSTED "expected memory for 7 sparse tensors, got none"; `bytes` are of each.
absl::Status CheckRoom(int64_t count, size_t bytes, std::string_view what);

}  // namespace sluice

#endif  // SLUICE_GRAPH_TENSOR_ROOM_H_
