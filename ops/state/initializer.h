// Initializers: functions of a shape and a type that add the nodes of an initial value.
//
//   Variable b(g, "b", {10}, Zeros());
//
// Any function of type Initializer can be used. The constructor of Variable calls it in the name
// scope `b/Initializer/`. Random initial values are in ops/random/initializer.h.
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
// The initial value is the tensor `value`, which must have the shape of the variable.
Initializer ConstantInit(Tensor value);
// The initial value of every element is this number: ConstantInit(0.5f).
template <typename T>
requires std::is_arithmetic_v<T> Initializer ConstantInit(T value) {
  return ConstantInit(Number(value));
}

}  // namespace sluice

#endif  // SLUICE_OPS_STATE_INITIALIZER_H_
