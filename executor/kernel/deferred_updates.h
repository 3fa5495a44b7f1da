// Deferred updates of variables, which run when the variable is next read.
//
// An update that has gradients for few rows of a large variable and decays all others need not
// visit all rows. The others are updated before their next read. Until then a DeferredUpdates holds
// the variable's tensor, and the variable looks uninitialised, so that nothing can use outdated
// rows. `home` is the Tensor in the variable. The executor, and the few kernels that take
// references, call SettleDeferred first.
//
// Thread safety: all functions may be called from any thread that holds the variable's claim.
// Lock order: the claim, then the locks of DeferredUpdates.
#ifndef SLUICE_EXECUTOR_KERNEL_DEFERRED_UPDATES_H_
#define SLUICE_EXECUTOR_KERNEL_DEFERRED_UPDATES_H_

#include <memory>

#include "executor/kernel/context.h"
#include "graph/tensor/tensor.h"

namespace sluice {

// A node with this attribute reads or updates variables through references while their updates are
// deferred, so the executor does not call SettleDeferred for it. Kernels that take resource handles
// decide by themselves (ops/state/variable_resource.h).
inline constexpr char kTakesDeferredAttr[] = "_takes_deferred";

class DeferredUpdates {
 public:
  virtual ~DeferredUpdates() = default;
  // Runs the deferred updates and returns the tensor to `home`. `step` need not have threads.
  virtual void Settle(Tensor* home, const StepContext& step) = 0;
  // The tensor of `home` with rows `indices` (int32 or int64, in range) up to date. Valid until the
  // caller releases the claim.
  virtual const Tensor& Rows(const Tensor* home, const Tensor& indices,
                             const StepContext& step) = 0;
};

// Moves the tensor out of `home`, whose type and shape stay. `by` then holds it.
Tensor TakeAway(Tensor* home, std::shared_ptr<DeferredUpdates> by);
// Puts the tensor, whose updates have run, back into `home`.
void BringBack(Tensor* home, Tensor tensor);
// The holder of the tensor of `home`. Null if the variable has its tensor or is not initialised.
std::shared_ptr<DeferredUpdates> WhoHas(const Tensor* home);
// Runs the deferred updates of `home`, if there are any.
void SettleDeferred(Tensor* home, const StepContext& step);
// Drops the deferred updates of a variable that is destroyed.
void ForgetDeferred(const Tensor* home);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_KERNEL_DEFERRED_UPDATES_H_
