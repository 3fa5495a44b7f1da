// What a kernel makes of an input that is a constant, once for all steps: weights packed or
// transformed for its loops.
#ifndef SLUICE_EXECUTOR_KERNEL_MADE_OF_CONSTANT_H_
#define SLUICE_EXECUTOR_KERNEL_MADE_OF_CONSTANT_H_

#include <atomic>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "executor/kernel/kernel.h"
#include "graph/tensor/tensor.h"

namespace sluice {

// Made when it is asked for a second time, since many a kernel runs once, and kept for as long as
// the kernel.
//
// Thread safety: any number of calls at a time, without a lock.
class MadeOfConstant {
 public:
  // Of the node's input i.
  MadeOfConstant(const KernelInit& init, int i);
  ~MadeOfConstant() { delete made_.load(); }
  MadeOfConstant(const MadeOfConstant&) = delete;
  MadeOfConstant& operator=(const MadeOfConstant&) = delete;

  // Whether `input` is the constant, and no other tensor in its place.
  bool IsOf(const Tensor& input) const {
    return constant_.IsInitialized() && input.raw() == constant_.raw();
  }
  // What `make` gave, which has to give the same each time; owned by this. Null on the first call,
  // where `input` is no constant, and where `make` fails, which happens for want of memory only.
  const Tensor* Get(const Tensor& input, absl::FunctionRef<absl::StatusOr<Tensor>()> make);

 private:
  const Tensor constant_;
  std::atomic<bool> is_used_ = false;
  std::atomic<const Tensor*> made_ = nullptr;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_KERNEL_MADE_OF_CONSTANT_H_
