// Makes scalars of a type that is chosen at run time. They are allocated by `memory`, or on the
// heap if `memory` is exhausted.
#ifndef SLUICE_OPS_LOOPS_CONSTANT_ELEMENT_H_
#define SLUICE_OPS_LOOPS_CONSTANT_ELEMENT_H_

#include "graph/tensor/tensor.h"

namespace sluice {

// Returns zero, false, an empty string, or an empty ResourceHandle or Variant.
Tensor ZeroElement(DataType dtype, Allocator& memory = Heap());
// Returns one or true. Returns ZeroElement for types that are not numbers or bool.
Tensor OneElement(DataType dtype, Allocator& memory = Heap());
// Returns `value` as a number or bool. Returns ZeroElement for other types.
Tensor NumberElement(DataType dtype, double value, Allocator& memory = Heap());

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_CONSTANT_ELEMENT_H_
