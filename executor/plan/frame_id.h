// Numbers of frames, equal on all tasks of a step: part of the keys of Send and Recv in loops.
#ifndef SLUICE_EXECUTOR_PLAN_FRAME_ID_H_
#define SLUICE_EXECUTOR_PLAN_FRAME_ID_H_

#include <cstdint>

namespace sluice {

inline uint64_t Hash64Combine(uint64_t a, uint64_t b) {
  return a ^ (b + 0x9e3779b97f4a7800ull + (a << 10) + (a >> 4));
}
// The root is 0; names are hashed by Hash64 (graph/hash.h).
inline uint64_t FrameId(uint64_t parent, int64_t iteration, uint64_t name_hash) {
  return Hash64Combine(parent, Hash64Combine(static_cast<uint64_t>(iteration), name_hash));
}

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_FRAME_ID_H_
