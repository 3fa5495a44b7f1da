// Mixins for the declarations of elementwise ops, in which element i of the output depends only on
// element i of each input. OpDefBuilder::With applies a mixin. It sets inputs, outputs, the type
// attribute "T", the shape function and the traits that optimization passes use. An op whose
// kernels are not ElementwiseLoopKernels (executor/kernel/elementwise_loops.h) must remove the
// elementwise trait with `.Elementwise(ElementwiseInputs::kNone)`.
//
//   OP(Neg, "Negates each element.").With(UnaryElementwise{SignedNumbers()}) GRADIENT(...);
//
// The field `types` of each mixin has the allowed values of attribute "T".
#ifndef SLUICE_OPS_ELEMENTWISE_MIXINS_H_
#define SLUICE_OPS_ELEMENTWISE_MIXINS_H_

#include "graph/op/op_def.h"

namespace sluice {

// Declares an input x of type T, and an output y with the shape of x. The type of y is `result`, or
// T if `result` is DT_INVALID.
struct UnaryElementwise {
  TypeSet types;
  DataType result = DT_INVALID;
  void operator()(OpDefBuilder& op) const;
};

// Declares two inputs of type T, which are broadcast, and an output of type T. The fields x, y and
// z are their names.
struct BinaryElementwise {
  TypeSet types;
  const char* x = "x";
  const char* y = "y";
  const char* z = "z";
  void operator()(OpDefBuilder& op) const;
};

// Declares inputs x and y of type T, which are broadcast, and an output z of type bool. The op is
// not differentiable.
struct ElementwiseComparison {
  TypeSet types;
  void operator()(OpDefBuilder& op) const;
};

// Declares an op, such as TanhGrad, that computes the gradient of an op y = f(x). Its inputs are y
// and dy, the gradient with respect to y. Its output z is the gradient with respect to x. All have
// type T and the same shape.
struct UnaryGradient {
  TypeSet types;
  void operator()(OpDefBuilder& op) const;
};

}  // namespace sluice

#endif  // SLUICE_OPS_ELEMENTWISE_MIXINS_H_
