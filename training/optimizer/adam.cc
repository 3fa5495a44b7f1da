#include "training/optimizer/adam.h"

#include "graph/build/scopes.h"
#include "ops/builders/ops.h"
#include "ops/sugar.h"

namespace sluice {

Adam::Adam(AdamOptions options)
    : MomentOptimizer(options.name, options.use_locking,
                      {options.learning_rate, options.beta1, options.beta2, options.epsilon}) {}

Operation Adam::ApplyDense(Output grad, const Variable& var) {
  UpdateOp update(*this, "Adam", var, grad);
  update.Slot(Slot(var, "m")).Slot(Slot(var, "v"));
  return AddNumbers(update, var.graph()).Gradient().Finish();
}

Operation Adam::ApplySparse(const IndexedSlices& grad, const Variable& var) {
  const Typed n = NumbersFor(var);
  const Output rate = CorrectedRate(n);
  const Output m = NextFirstMoment(grad, var, n);
  const Output v = NextSecondMoment(grad, var, n);
  const Output root = Sqrt(v);
  const Output step = rate * m;
  const Operation update =
      WithValueRead(var, var.AssignSub(step / (root + n.epsilon), {.use_locking = use_locking()}));
  return Group(var.graph(), {update, m, v});
}

AMSGrad::AMSGrad(AMSGradOptions options)
    : MomentOptimizer(options.name, options.use_locking,
                      {options.learning_rate, options.beta1, options.beta2, options.epsilon}) {}

void AMSGrad::CreateSlots(const std::vector<Variable>& vars) {
  MomentOptimizer::CreateSlots(vars);
  for (const Variable& var : vars) ZerosSlot(var, "vhat", name());
}

// The fused op is for resource variables only.
Operation AMSGrad::ApplyDense(Output grad, const Variable& var) {
  if (!var.is_resource()) return ApplyInSteps(grad, var);
  UpdateOp update(*this, "AdamWithAmsgrad", var, grad);
  update.Slot(Slot(var, "m")).Slot(Slot(var, "v")).Slot(Slot(var, "vhat"));
  return AddNumbers(update, var.graph()).Gradient().Finish();
}

Operation AMSGrad::ApplySparse(const IndexedSlices& grad, const Variable& var) {
  return ApplyInSteps(grad, var);
}

Operation AMSGrad::ApplyInSteps(const Grad& grad, const Variable& var) {
  const AssignOptions how = {.use_locking = use_locking()};
  const Typed n = NumbersFor(var);
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
