// Interfaces of kernels whose results are the terms of a sum. The executor adds each term to the
// sum of the terms before it when it computes the term, so that it need not keep the terms
// (executor/fusion/accumulate_sums.h).
#ifndef SLUICE_EXECUTOR_KERNEL_RUNNING_SUM_H_
#define SLUICE_EXECUTOR_KERNEL_RUNNING_SUM_H_

#include "executor/kernel/context.h"
#include "executor/kernel/kernel.h"

namespace sluice {

// A kernel whose only output is the sum of its inputs, in order, all of one shape.
class SumKernel : public Kernel {
 public:
  bool IsExpensive() const override { return false; }
  absl::Status Compute(KernelContext& context) final {
    return SumOf(context, context.num_inputs());
  }
  // Sums the first `count` inputs.
  virtual absl::Status SumOf(KernelContext& context, int count) = 0;
};

// A kernel with one output. If it is called with one more input, which has the shape of the output,
// it adds this input to its result.
class AddingKernel : public Kernel {
 public:
  // Whether the kernel can be called with the additional input.
  virtual bool CanAdd() const { return true; }

  // Whether ComputeJoined can sum the results of this kernel and the other one, if their operands
  // have equal shapes.
  virtual bool CanJoin(const AddingKernel&) const { return false; }
  // Sets output 0 to the sum of the results of several kernels for which CanJoin holds. The inputs
  // of `context` from `first` on are the operands of these kernels, kernel by kernel.
  virtual absl::Status ComputeJoined(KernelContext& context, int first) const {
    return absl::UnimplementedError(context.name());
  }
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_KERNEL_RUNNING_SUM_H_
