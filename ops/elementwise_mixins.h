// Mixins for elementwise ops: inputs, outputs, type attribute, shape and traits of ops whose
// element i depends only on element i of the inputs. An op whose kernels are not
// ElementwiseLoopKernels removes the trait with `.Elementwise(ElementwiseInputs::kNone)`.
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

// The gradient of y = f(x) from y and dy, the gradient with respect to y.
struct UnaryGradient {
  TypeSet types;
  void operator()(OpDefBuilder& op) const;
};

}  // namespace sluice

#endif  // SLUICE_OPS_ELEMENTWISE_MIXINS_H_
