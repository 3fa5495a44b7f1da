// Mixins that declare elementwise ops, in which element i of the output depends only on element i
// of each input. They set inputs, outputs, the type attribute, the shape function and traits. An op
// whose kernels are not ElementwiseLoopKernels must remove the elementwise trait with
// `.Elementwise(ElementwiseInputs::kNone)`.
//
//   OP(Neg, "Negates each element.").With(UnaryElementwise{SignedNumbers()}) GRADIENT(...);
//
// `types` are the allowed values of attribute "T".
#ifndef SLUICE_OPS_ELEMENTWISE_MIXINS_H_
#define SLUICE_OPS_ELEMENTWISE_MIXINS_H_

#include "graph/op/op_def.h"

namespace sluice {

// Input x of type T. Output y has the shape of x, and type T unless `result` is set.
struct UnaryElementwise {
  TypeSet types;
  DataType result = DT_INVALID;
  void operator()(OpDefBuilder& op) const;
};

// Inputs x and y of type T that broadcast, and an output z of type T.
struct BinaryElementwise {
  TypeSet types;
  const char* x = "x";
  const char* y = "y";
  const char* z = "z";
  void operator()(OpDefBuilder& op) const;
};

// Inputs x and y of type T that broadcast, and an output z of type bool. Not differentiable.
struct ElementwiseComparison {
  TypeSet types;
  void operator()(OpDefBuilder& op) const;
};

// The op of the gradient of y = f(x). Its inputs are y and dy, the gradient with respect to y. Its
// output z is the gradient with respect to x. All have type T.
struct UnaryGradient {
  TypeSet types;
  void operator()(OpDefBuilder& op) const;
};

}  // namespace sluice

#endif  // SLUICE_OPS_ELEMENTWISE_MIXINS_H_
