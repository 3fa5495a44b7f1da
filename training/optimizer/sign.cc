#include "training/optimizer/sign.h"

#include <cmath>

#include "ops/math/exponential_builders.h"
#include "ops/math/rounding_builders.h"
#include "ops/sugar.h"

namespace sluice {

Operation SignOptimizer::ApplySparse(const IndexedSlices& grad, const Variable& var) {
  const AssignOptions how = {.use_locking = use_locking()};
  const Variable m = Slot(var, "m");
  const Output beta = Typed("beta", var).tensor;
  const Output rest = 1 - beta;
  const Output rows = Gather(m, grad.indices) * beta + grad.values * rest;
  const Operation stored = m.ScatterUpdate(grad.indices, rows, how);
  const Output decay = Typed("sign_decay", var).tensor;
  const Output agreement = decay * Sign(grad.values) * Sign(rows);
  const Output factor = Factor(agreement, var);
  const Output step = Typed("lr", var).tensor * factor * grad.values;
  return Group(var.graph(), {stored, var.ScatterSub(grad.indices, step, how)});
}

PowerSign::PowerSign(const PowerSignOptions& options)
    : SignOptimizer(kPowerSign, options, {{"m"}},
                    {{"lr", options.learning_rate, "learning_rate"},
                     {"beta", options.beta},
                     {"logbase", std::log(options.base)},
                     {"sign_decay", options.sign_decay}}) {}

Output PowerSign::Factor(Output agreement, const Variable& var) const {
  return Exp(Typed("logbase", var).tensor * agreement);
}

AddSign::AddSign(const AddSignOptions& options)
    : SignOptimizer(kAddSign, options, {{"m"}},
                    {{"lr", options.learning_rate, "learning_rate"},
                     {"beta", options.beta},
                     {"alpha", options.alpha},
                     {"sign_decay", options.sign_decay}}) {}

Output AddSign::Factor(Output agreement, const Variable& var) const {
  return Typed("alpha", var).tensor + agreement;
}

}  // namespace sluice
