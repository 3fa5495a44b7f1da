// Prefetches memory whose next use the processor cannot predict.
#ifndef SLUICE_EXECUTOR_CPU_PREFETCH_H_
#define SLUICE_EXECUTOR_CPU_PREFETCH_H_

#include <cstdint>

#include "executor/cpu/target_clones.h"

namespace sluice {

inline constexpr int64_t kLineBytes = 64;  // a cache line

// Prefetches the cache line of base[elements], for writing if kToWrite. That element may lie
// outside the array. So the address is computed with integers, because C++ leaves such pointer
// arithmetic undefined.
template <bool kToWrite = false, typename T>
SLUICE_INLINE_IN_CLONES void Prefetch(const T* base, int64_t elements) {
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<intptr_t>(base) +
                                                   elements * static_cast<int64_t>(sizeof(T))),
                     kToWrite ? 1 : 0);
}

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_CPU_PREFETCH_H_
