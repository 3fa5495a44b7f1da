// Sets of types that many definitions name.
#ifndef SLUICE_OPS_MATH_NUMBER_TYPES_H_
#define SLUICE_OPS_MATH_NUMBER_TYPES_H_

#include "graph/tensor/dtype.h"

namespace sluice {

constexpr TypeSet FloatAndComplex() { return FloatTypes() | ComplexTypes(); }
constexpr TypeSet Numbers() { return RealTypes() | ComplexTypes(); }

}  // namespace sluice

#endif  // SLUICE_OPS_MATH_NUMBER_TYPES_H_
