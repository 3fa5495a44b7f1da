// Loops for in-place arithmetic on rows of elements of any type, for assignments and scattered
// updates.
//
// Each loop is compiled once per type and chosen at run time, so kernels need not be compiled once
// per type.
//
// Thread safety: pure functions.
#ifndef SLUICE_OPS_LOOPS_ARITHMETIC_H_
#define SLUICE_OPS_LOOPS_ARITHMETIC_H_

#include <cstdint>

#include "graph/tensor/dtype.h"

namespace sluice {

enum class ArithmeticOp { kAssign, kAdd, kSub, kMul, kDiv, kMin, kMax };

// to[k] = to[k] (op) from[k] for k in [0, n).
using ArithmeticRow = void (*)(void* to, const void* from, int64_t n);

// The loop for an operation and a type. Null if the type has no such operation. All types have
// kAssign. Numbers have all operations, except that complex numbers have no minimum and maximum.
// bool has kAdd ("or") and kSub ("xor"). Integers wrap around.
ArithmeticRow FindArithmetic(ArithmeticOp op, DataType dtype);
// Like FindArithmetic, but the loop reads a single operand: to[k] = to[k] (op) *from.
ArithmeticRow FindArithmeticWithScalar(ArithmeticOp op, DataType dtype);

// Whether one of the n elements at `from` is an integer zero, which is not a valid divisor. False
// for types other than integers.
bool HasIntegerZero(DataType dtype, const void* from, int64_t n);

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_ARITHMETIC_H_
