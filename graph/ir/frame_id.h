// Computes ids of loop frames. The id of a frame is a part of the keys by which Send and Recv
// exchange tensors inside loops, so all tasks of a step must compute the same id.
#ifndef SLUICE_GRAPH_IR_FRAME_ID_H_
#define SLUICE_GRAPH_IR_FRAME_ID_H_

#include <cstdint>

namespace sluice {

inline uint64_t Hash64Combine(uint64_t a, uint64_t b) {
  return a ^ (b + 0x9e3779b97f4a7800ull + (a << 10) + (a >> 4));
}
// The id of the frame of a loop that is entered in iteration `iteration` of the frame `parent`. The
// root frame has id 0. `name_hash` is Hash64 of the loop's frame_name (graph/hash.h).
inline uint64_t FrameId(uint64_t parent, int64_t iteration, uint64_t name_hash) {
  return Hash64Combine(parent, Hash64Combine(static_cast<uint64_t>(iteration), name_hash));
}

}  // namespace sluice

#endif  // SLUICE_GRAPH_IR_FRAME_ID_H_
