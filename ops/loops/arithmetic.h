// Arithmetic in place over rows of elements of any type: what assigning and scattering updates do.
//
// Each operation on a type is compiled once, here, and found at run time, so that kernels need no
// instantiation a type.
#ifndef SLUICE_OPS_LOOPS_ARITHMETIC_H_
#define SLUICE_OPS_LOOPS_ARITHMETIC_H_

#include <cstdint>

#include "graph/tensor/dtype.h"

namespace sluice {

enum class ArithmeticOp { kAssign, kAdd, kSub, kMul, kDiv, kMin, kMax };

// to[k] = to[k] (op) from[k] for k in [0, n).
using ArithmeticRow = void (*)(void* to, const void* from, int64_t n);

// Null where the type has no such operation: kAssign is for all types that a tensor can hold, the
// others for numbers, min and max not for complex ones. Bool adds as "or", subtracts as "xor".
ArithmeticRow FindArithmetic(ArithmeticOp op, DataType dtype);
// The same with one element for all: to[k] = to[k] (op) *from.
ArithmeticRow FindArithmeticWithScalar(ArithmeticOp op, DataType dtype);

// A zero among the integers `from`: dividing by it has no result.
bool HasIntegerZero(DataType dtype, const void* from, int64_t n);

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_ARITHMETIC_H_
