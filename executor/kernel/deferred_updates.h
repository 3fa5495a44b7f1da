// Deferred updates of variables, which run when the variable is next read.
//
// Some updates have gradients for few rows of a large variable, and decay all other rows. Such an
// update need not visit all rows at once: the other rows are updated before their next read. Until
// then a DeferredUpdates holds the variable's tensor, and the variable looks uninitialised, so that
// no node can use outdated rows. SettleDeferred runs the updates. The executor calls it before a
// kernel gets a reference to a variable. The few kernels that lock variables themselves call it
// too.
//
// `home` is the Tensor object in the variable, which is empty while its updates are deferred.
//
// Thread safety: all functions may be called from any thread that holds the variable's claim, the
// lock of its value (executor/wait/claim.h).
// Lock order: the claim, then the locks of DeferredUpdates.
#ifndef SLUICE_EXECUTOR_KERNEL_DEFERRED_UPDATES_H_
#define SLUICE_EXECUTOR_KERNEL_DEFERRED_UPDATES_H_

#include <memory>

#include "executor/kernel/context.h"
#include "graph/tensor/tensor.h"

namespace sluice {

// A node with this attribute reads or updates variables through references while their updates are
// deferred, so the executor does not call SettleDeferred for it. For variables that kernels get as
// resource handles, the kernels decide whether to call it (ops/state/variable_resource.h).
inline constexpr char kTakesDeferredAttr[] = "_takes_deferred";

// Holds the tensor of a variable, and the updates of it that have not run yet.
class DeferredUpdates {
 public:
  virtual ~DeferredUpdates() = default;
  // Runs the deferred updates and moves the tensor back to `home`. `step.intra_op` may be null.
  virtual void Settle(Tensor* home, const StepContext& step) = 0;
  // Brings rows `indices` (int32 or int64, in range) up to date, and returns the tensor of the
  // variable. The reference is valid until the caller releases the claim.
  virtual const Tensor& Rows(const Tensor* home, const Tensor& indices,
                             const StepContext& step) = 0;
};

// Moves the tensor out of `home` and returns it. The caller gives it to `by`. `home` keeps its type
// and shape. WhoHas returns `by` until BringBack.
Tensor TakeAway(Tensor* home, std::shared_ptr<DeferredUpdates> by);
// Puts a tensor whose deferred updates have run back into `home`.
void BringBack(Tensor* home, Tensor tensor);
// Returns the DeferredUpdates that holds the tensor of `home`. Null if the variable holds its
// tensor itself or is not initialised.
std::shared_ptr<DeferredUpdates> WhoHas(const Tensor* home);
// Runs the deferred updates of `home`, if there are any.
void SettleDeferred(Tensor* home, const StepContext& step);
// Drops the deferred updates of a variable that is destroyed.
void ForgetDeferred(const Tensor* home);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_KERNEL_DEFERRED_UPDATES_H_
