#include "training/optimizer/adamax.h"

#include "graph/build/scopes.h"
#include "ops/builders/ops.h"
#include "ops/sugar.h"

namespace sluice {

AdaMax::AdaMax(AdaMaxOptions options)
    : MomentOptimizer(options.name, options.use_locking,
                      {options.learning_rate, options.beta1, options.beta2, options.epsilon}) {}

Operation AdaMax::ApplyDense(Output grad, const Variable& var) {
  const Typed n = NumbersFor(var);
  UpdateOp update(*this, "AdaMax", var, grad);
  update.Slot(Slot(var, "m")).Slot(Slot(var, "v")).Number(BetaPower(1, var.graph()));
  return update.Tensor(n.learning_rate)
      .Tensor(n.beta1)
      .Tensor(n.beta2)
      .Tensor(n.epsilon)
      .Gradient()
      .Finish();
}

Operation AdaMax::ApplySparse(const IndexedSlices& grad, const Variable& var) {
  const AssignOptions how = {.use_locking = use_locking()};
  const Typed n = NumbersFor(var);
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
