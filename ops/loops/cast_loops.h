// Converts arrays between number types and bool.
//
// Thread safety: pure functions.
#ifndef SLUICE_OPS_LOOPS_CAST_LOOPS_H_
#define SLUICE_OPS_LOOPS_CAST_LOOPS_H_

#include <cstdint>

#include "graph/tensor/dtype.h"

namespace sluice {

// Converts n elements.
using CastLoop = void (*)(const void* x, void* y, int64_t n);

// The loop that converts `from` to `to`. Null if a type is neither a number nor bool. With
// `truncate`, it truncates floating point numbers to a narrower type instead of rounding them.
CastLoop FindCastLoop(DataType from, DataType to, bool truncate);

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_CAST_LOOPS_H_
