// Conversion of arrays between types of numbers.
#ifndef SLUICE_OPS_LOOPS_CAST_LOOPS_H_
#define SLUICE_OPS_LOOPS_CAST_LOOPS_H_

#include <cstdint>

#include "graph/tensor/dtype.h"

namespace sluice {

// n elements at x to n at y.
using CastLoop = void (*)(const void* x, void* y, int64_t n);

// Null where the pair is not one of numbers (or bool). `truncate`: floating numbers are cut to a
// narrower type instead of rounded.
CastLoop FindCastLoop(DataType from, DataType to, bool truncate);

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_CAST_LOOPS_H_
