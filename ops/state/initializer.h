// Initial values of variables: functions of a shape and a type that add the nodes of the value.
//
//   Variable b(g, "b", {10}, Zeros());
//
// Any function of this form will do. It runs under the name scope `b/Initializer/`. Random initial
// values are in ops/random/initializer.h.
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
// The tensor itself; its shape must be the variable's.
Initializer ConstantInit(Tensor value);
// A number in every place: ConstantInit(0.5f).
template <typename T>
requires std::is_arithmetic_v<T> Initializer ConstantInit(T value) {
  return ConstantInit(Number(value));
}

}  // namespace sluice

#endif  // SLUICE_OPS_STATE_INITIALIZER_H_
