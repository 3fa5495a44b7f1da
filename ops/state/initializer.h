// An Initializer is a function that adds the nodes of a variable's initial value, given the shape
// and the type of the variable.
//
//   Variable b(g, "b", {10}, Zeros());
//
// The constructor of Variable calls the function in the name scope `b/Initializer/`. A program may
// write its own. Initializers with random values are in ops/random/initializer.h.
#ifndef SLUICE_OPS_STATE_INITIALIZER_H_
#define SLUICE_OPS_STATE_INITIALIZER_H_

#include <functional>

#include "graph/ir/graph.h"
#include "ops/builders/constant.h"

namespace sluice {

using Initializer = std::function<Output(Graph& graph, const TensorShape& shape, DataType dtype)>;

Initializer Zeros();
Initializer Ones();
Initializer ConstantInit(Number value);
// Returns an initializer whose value is the tensor `value`, which must have the shape and the type
// of the variable.
Initializer ConstantInit(Tensor value);
// Returns an initializer that sets every element to the number `value`: ConstantInit(0.5f).
template <typename T>
requires std::is_arithmetic_v<T> Initializer ConstantInit(T value) {
  return ConstantInit(Number(value));
}

}  // namespace sluice

#endif  // SLUICE_OPS_STATE_INITIALIZER_H_
