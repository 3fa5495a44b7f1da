// Kernels that take part in sums (executor/plan/accumulate.h): what they compute is added to a
// value that is there, rather than kept until the sum is made.
#ifndef SLUICE_EXECUTOR_KERNEL_RUNNING_SUM_H_
#define SLUICE_EXECUTOR_KERNEL_RUNNING_SUM_H_

#include "executor/kernel/context.h"
#include "executor/kernel/kernel.h"

namespace sluice {

// Its one output is the sum of its inputs, in their order, all of one shape.
class SumKernel : public Kernel {
 public:
  bool IsExpensive() const override { return false; }
  absl::Status Compute(KernelContext& context) final {
    return SumOf(context, context.num_inputs());
  }
  // Of the first `count` inputs.
  virtual absl::Status SumOf(KernelContext& context, int count) = 0;
};

// Of one output. Where it is called with one input more than its op has, of the output's shape, it
// gives the sum of that input and of what it would give else.
class AddingKernel : public Kernel {
 public:
  virtual bool CanAdd() const { return true; }

  // Whether ComputeJoined does for both, where their operands are of equal shapes.
  virtual bool CanJoin(const AddingKernel&) const { return false; }
  // Makes output 0 the sum of several such kernels' results: the inputs from `first` on are their
  // operands, one kernel's after the other's.
  virtual absl::Status ComputeJoined(KernelContext& context, int first) const {
    return absl::UnimplementedError(context.name());
  }
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_KERNEL_RUNNING_SUM_H_
