// Kernels of two tensors of one size, without broadcasting: the ...Grad ops.
//
// Errors: INVALID_ARGUMENT where the numbers of elements differ.
#ifndef SLUICE_OPS_LOOPS_SAME_SIZE_H_
#define SLUICE_OPS_LOOPS_SAME_SIZE_H_

#include "ops/loops/broadcast.h"

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
