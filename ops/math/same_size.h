// Kernels of two tensors of one size, without broadcasting: the ...Grad ops.
//
// Errors: INVALID_ARGUMENT where the numbers of elements differ.
#ifndef SLUICE_OPS_MATH_SAME_SIZE_H_
#define SLUICE_OPS_MATH_SAME_SIZE_H_

#include "ops/math/broadcast.h"

namespace sluice {

class SameSizeKernel : public Kernel {
 public:
  explicit SameSizeKernel(const BinaryLoops& loops) : loops_(loops) {}
  absl::Status Compute(KernelContext& context) override;
  bool IsExpensive() const override { return false; }

 private:
  const BinaryLoops loops_;
};

template <typename F>
struct SameSize {
  template <typename T>
  class Kernel : public SameSizeKernel {
   public:
    Kernel()
        : SameSizeKernel({.both = elementwise::RunBinary<F, T, 1, 1>,
                          .x_scalar = nullptr,
                          .y_scalar = nullptr,
                          .in_size = sizeof(T),
                          .out_size = sizeof(T),
                          .cost = F::kCost + (kIsFloat16<T> ? 0.7 : 0)}) {}
  };
};

}  // namespace sluice

#endif  // SLUICE_OPS_MATH_SAME_SIZE_H_
