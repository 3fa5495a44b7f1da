// Sets of types for declarations of ops, and lists of types for registrations of kernels, in
// addition to those in graph/tensor/dtype.h.
#ifndef SLUICE_OPS_MATH_NUMBER_TYPES_H_
#define SLUICE_OPS_MATH_NUMBER_TYPES_H_

#include "graph/tensor/dtype.h"

namespace sluice {

constexpr TypeSet FloatAndComplex() { return FloatTypes() | ComplexTypes(); }
constexpr TypeSet SignedNumbers() { return FloatAndComplex() | SignedIntTypes(); }
constexpr TypeSet Numbers() { return RealTypes() | ComplexTypes(); }
constexpr TypeSet FloatAndDouble() { return {DT_FLOAT, DT_DOUBLE}; }

using FloatAndComplexList = JoinTypes<FloatList, ComplexList>::type;
using SignedNumberList = JoinTypes<JoinTypes<FloatList, SignedIntList>::type, ComplexList>::type;
using FloatAndDoubleList = TypeList<float, double>;
using HalfToDoubleList = TypeList<half, float, double>;

}  // namespace sluice

#endif  // SLUICE_OPS_MATH_NUMBER_TYPES_H_
