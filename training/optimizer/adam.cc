#include "training/optimizer/adam.h"

#include "graph/build/scopes.h"
#include "ops/embedding/embedding_table.h"
#include "ops/math/arithmetic_builders.h"
#include "ops/math/power_builders.h"
#include "ops/math/rounding_builders.h"
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
  for (const Variable& var : vars) {
    if (!IsEmbeddingTable(var)) ZerosSlot(var, "vhat", name());
  }
}

// An op exists only for dense gradients of resource variables. Other updates are built from
// elementary ops.
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

AdaMax::AdaMax(const AdaMaxOptions& options) : MomentOptimizer(kAdaMax, options) {}

// As in TensorFlow, all numbers are cast to the variable's type, and the power is cast once more.
AdaMax::Scalars AdaMax::ScalarsFor(const Variable& var) const {
  const Numbers n = NumbersFor(var);
  return {{"beta1_power", Typed("beta1_power", var)},
          {"lr", n.learning_rate},
          {"beta1", n.beta1},
          {"beta2", n.beta2},
          {"epsilon", n.epsilon}};
}

Operation AdaMax::ApplySparse(const IndexedSlices& grad, const Variable& var) {
  const AssignOptions how = {.use_locking = use_locking()};
  const Numbers n = NumbersFor(var);
  const Variable m = Slot(var, "m"), v = Slot(var, "v");
  const Output rest = 1 - n.beta1;
  const Output m_rows = Gather(m, grad.indices) * n.beta1 + grad.values * rest;
  const Output v_rows = Maximum(Gather(v, grad.indices) * n.beta2, Abs(grad.values));
  const Output rate = n.learning_rate / (1 - n.beta1_power);
  const Output step = rate * m_rows / (v_rows + n.epsilon);
  return Group(var.graph(), {m.ScatterUpdate(grad.indices, m_rows, how),
                             v.ScatterUpdate(grad.indices, v_rows, how),
                             var.ScatterSub(grad.indices, step, how)});
}

}  // namespace sluice
