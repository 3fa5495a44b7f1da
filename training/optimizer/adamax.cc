#include "training/optimizer/adamax.h"

#include "graph/build/scopes.h"
#include "ops/builders/ops.h"
#include "ops/sugar.h"

namespace sluice {

AdaMax::AdaMax(const AdaMaxOptions& options) : MomentOptimizer(kAdaMax, options) {}

// TensorFlow's optimizer casts all numbers, and then the power once more.
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
