// Updates of variables that are put off until somebody looks.
//
// An update that touches few rows of a large variable, and decays all others, need not go over all
// of it: what the others missed is done when they are next read. Meanwhile the tensor is not at
// home (the variable is without elements there, as if it were not initialized), so that nobody can
// read or write what is not up to date: the executor, and the few kernels that take references, ask
// for it back first.
//
// Thread safety: all functions from any thread. Whoever takes a tensor away, brings it back, or
// asks for it has the variable's claim; the objects' own locks come after those.
#ifndef SLUICE_EXECUTOR_KERNEL_DEFERRED_UPDATES_H_
#define SLUICE_EXECUTOR_KERNEL_DEFERRED_UPDATES_H_

#include <memory>

#include "executor/kernel/context.h"
#include "graph/tensor/tensor.h"

namespace sluice {

// A node with this attribute takes references to such variables as they are. (Kernels that take
// resource handles ask for the tensor themselves: ops/state/variable_resource.h.)
inline constexpr char kTakesDeferredAttr[] = "_takes_deferred";

class DeferredUpdates {
 public:
  virtual ~DeferredUpdates() = default;
  // Does what was put off, and brings the tensor of `home` back. `step` has threads for it, or has
  // none.
  virtual void Settle(Tensor* home, const StepContext& step) = 0;
  // The tensor of `home`, of which rows `indices` (int32 or int64, in range) are up to date, until
  // the caller gives its claim back.
  virtual const Tensor& Rows(const Tensor* home, const Tensor& indices,
                             const StepContext& step) = 0;
};

// Moves the tensor at `home` out; its type and shape stay.
Tensor TakeAway(Tensor* home, std::shared_ptr<DeferredUpdates> by);
void BringBack(Tensor* home, Tensor tensor);
// Who has the tensor of `home`; null if it is at home, or not initialized.
std::shared_ptr<DeferredUpdates> WhoHas(const Tensor* home);
// After this the tensor is at home, unless it is not initialized.
void SettleDeferred(Tensor* home, const StepContext& step);
// The variable goes away: so does what was put off.
void ForgetDeferred(const Tensor* home);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_KERNEL_DEFERRED_UPDATES_H_
