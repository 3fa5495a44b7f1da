// Scalars of a type that is known at run time, as memory to copy elements from.
#ifndef SLUICE_OPS_ARRAY_CONSTANT_ELEMENT_H_
#define SLUICE_OPS_ARRAY_CONSTANT_ELEMENT_H_

#include "graph/tensor/tensor.h"

namespace sluice {

// A scalar: zero, false, an empty string or object.
Tensor ZeroElement(DataType dtype);
// A scalar: one or true; zero of types without a one.
Tensor OneElement(DataType dtype);
// A scalar of a number type.
Tensor NumberElement(DataType dtype, double value);

}  // namespace sluice

#endif  // SLUICE_OPS_ARRAY_CONSTANT_ELEMENT_H_
