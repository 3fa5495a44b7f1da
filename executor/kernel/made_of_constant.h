// A tensor that a kernel derives from a constant input once and uses in all steps, such as weights
// packed for its loops.
#ifndef SLUICE_EXECUTOR_KERNEL_MADE_OF_CONSTANT_H_
#define SLUICE_EXECUTOR_KERNEL_MADE_OF_CONSTANT_H_

#include <atomic>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "executor/kernel/kernel.h"
#include "graph/tensor/tensor.h"

namespace sluice {

// The tensor is computed at the second call of Get, because many kernels run only once. It lives as
// long as this object.
//
// Thread safety: all methods may be called from any thread. They take no lock.
class MadeOfConstant {
 public:
  // The tensor is derived from input i of the node.
  MadeOfConstant(const KernelInit& init, int i);
  ~MadeOfConstant() { delete made_.load(); }
  MadeOfConstant(const MadeOfConstant&) = delete;
  MadeOfConstant& operator=(const MadeOfConstant&) = delete;

  // Whether `input` is the constant. False if another tensor is fed instead, or if the node's input
  // is no constant.
  bool IsOf(const Tensor& input) const {
    return constant_.IsInitialized() && input.raw() == constant_.raw();
  }
  // Returns the derived tensor, which this object owns. `make` computes it and must return the same
  // value each time. Returns null in three cases: on the first call, if `input` is not the
  // constant, and if `make` fails because there is no memory.
  const Tensor* Get(const Tensor& input, absl::FunctionRef<absl::StatusOr<Tensor>()> make);

 private:
  const Tensor constant_;
  std::atomic<bool> is_used_ = false;
  std::atomic<const Tensor*> made_ = nullptr;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_KERNEL_MADE_OF_CONSTANT_H_
