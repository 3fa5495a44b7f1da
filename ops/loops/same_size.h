// Makes kernels of two tensors of equal sizes, without broadcasting. Gradients of elementwise ops
// use them.
//
//   UNARY_GRAD_KERNELS(TanhGrad, FloatAndComplexList, 0.3, dy * (T(1) - y * y));
//
// Functors are as in ops/loops/elementwise.h.
//
// Errors: INVALID_ARGUMENT if the numbers of elements differ.
#ifndef SLUICE_OPS_LOOPS_SAME_SIZE_H_
#define SLUICE_OPS_LOOPS_SAME_SIZE_H_

#include "ops/loops/broadcast.h"

// Registers kernels that compute an expression of y = f(x) and dy, the gradient with respect to y.
#define UNARY_GRAD_KERNELS(op, types, cost, ...)                        \
  SLUICE_FUNCTOR(op##Fn, cost, (const T& y, const T& dy), __VA_ARGS__); \
  KERNELS(op, "T", ::sluice::SameSize<op##Fn>::Kernel, types)

namespace sluice {

class SameSizeKernel : public ElementwiseLoopKernel {
 public:
  using ElementwiseLoopKernel::ElementwiseLoopKernel;
  absl::Status Compute(KernelContext& context) override;
};

template <typename F>
struct SameSize {
  template <typename T>
  class Kernel : public SameSizeKernel {
   public:
    Kernel()
        : SameSizeKernel({.both = elementwise::RunBinary<F, T, 1, 1>,
                          .in_size = sizeof(T),
                          .out_size = sizeof(T),
                          .cost = F::kCost + (kIsFloat16<T> ? 0.7 : 0)}) {}
  };
};

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_SAME_SIZE_H_
