// Scalars of a type that is known at run time, as memory to copy elements from; it is the heap's
// where `memory` has none.
#ifndef SLUICE_OPS_LOOPS_CONSTANT_ELEMENT_H_
#define SLUICE_OPS_LOOPS_CONSTANT_ELEMENT_H_

#include "graph/tensor/tensor.h"

namespace sluice {

// A scalar: zero, false, an empty string or object.
Tensor ZeroElement(DataType dtype, Allocator& memory = Heap());
// A scalar: one or true; zero of types without a one.
Tensor OneElement(DataType dtype, Allocator& memory = Heap());
// A scalar of a number type.
Tensor NumberElement(DataType dtype, double value, Allocator& memory = Heap());

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_CONSTANT_ELEMENT_H_
