#include "training/optimizer/adam.h"

#include "graph/build/scopes.h"
#include "ops/builders/ops.h"
#include "ops/sugar.h"
#include "training/optimizer/slot.h"

namespace sluice {

Adam::Adam(const AdamOptions& options) : MomentOptimizer(kAdam, options) {}

Operation Adam::ApplySparse(const IndexedSlices& grad, const Variable& var) {
  const Numbers n = NumbersFor(var);
  const Output rate = CorrectedRate(n);
  const Output m = NextFirstMoment(grad, var, n);
  const Output v = NextSecondMoment(grad, var, n);
  const Output root = Sqrt(v);
  const Output step = rate * m;
  const Operation update =
      WithValueRead(var, var.AssignSub(step / (root + n.epsilon), {.use_locking = use_locking()}));
  return Group(var.graph(), {update, m, v});
}

AMSGrad::AMSGrad(const AMSGradOptions& options) : MomentOptimizer(kAdamWithAmsgrad, options) {}

void AMSGrad::CreateSlots(const std::vector<Variable>& vars) {
  MomentOptimizer::CreateSlots(vars);
  for (const Variable& var : vars) ZerosSlot(var, "vhat", name());
}

// The op exists for resource variables only.
Operation AMSGrad::ApplyDense(Output grad, const Variable& var) {
  return var.is_resource() ? ApplyRule(grad, var) : ApplyInSteps(grad, var);
}

Operation AMSGrad::ApplySparse(const IndexedSlices& grad, const Variable& var) {
  return ApplyInSteps(grad, var);
}

Operation AMSGrad::ApplyInSteps(const Grad& grad, const Variable& var) {
  const AssignOptions how = {.use_locking = use_locking()};
  const Numbers n = NumbersFor(var);
  const Output rate = CorrectedRate(n);
  const Output m = NextFirstMoment(grad, var, n);
  const Output v = NextSecondMoment(grad, var, n);
  const Variable largest = Slot(var, "vhat");
  const Output next = ValueAfter(largest, largest.Assign(Maximum(largest.Read(), v), how));
  const Output root = Sqrt(next);
  const Operation update = var.AssignSub(rate * m / (root + n.epsilon), how);
  return Group(var.graph(), {update, m, v, next});
}

}  // namespace sluice
