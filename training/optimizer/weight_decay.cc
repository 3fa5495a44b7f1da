#include "training/optimizer/weight_decay.h"

#include <algorithm>

#include "graph/build/scopes.h"
#include "ops/array/fill_builders.h"
#include "ops/math/compare_builders.h"
#include "ops/math/power_builders.h"
#include "ops/math/select_builders.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

bool Decays(const Variable& var, const std::vector<std::string>& excluded) {
  return std::none_of(excluded.begin(), excluded.end(), [&](const std::string& part) {
    return var.name().find(part) != std::string::npos;
  });
}

Output Norm(Output x) { return Sqrt(ReduceSum(Square(x))); }

// Returns a / b, or 1 if a or b is 0.
Output RatioOfNorms(Output a, Output b) {
  const Output zero = ZerosLike(a);
  const Output one = OnesLike(a);
  const Output both = LogicalAnd(Greater(a, zero), Greater(b, zero));
  // Avoids a division by 0 even if its result is not used.
  return SelectV2(both, a / SelectV2(both, b, one), one);
}

}  // namespace

AdamW::AdamW(const AdamWOptions& options)
    : Adam(kAdamW, options), excluded_(options.exclude_from_weight_decay) {
  AddScalar({"weight_decay", options.weight_decay});
}

AdamW::Scalars AdamW::ScalarsFor(const Variable& var) const {
  Scalars scalars = Adam::ScalarsFor(var);
  if (!Decays(var, excluded_)) scalars["weight_decay"] = Constant(var.graph(), 0, var.dtype());
  return scalars;
}

Operation AdamW::Decay(const Variable& var, Operation grad) {
  if (!Decays(var, excluded_)) return {};
  // The decay must run after the gradient, which is computed from the value before the decay.
  ControlDependencies ready(var.graph(), {grad});
  const Output share = Typed("lr", var).tensor * Typed("weight_decay", var).tensor;
  return var.AssignSub(var * share, {.use_locking = use_locking()});
}

Operation AdamW::ApplySparse(const IndexedSlices& grad, const Variable& var) {
  ControlDependencies after(var.graph(), {Decay(var, grad.values)});
  return Adam::ApplySparse(grad, var);
}

// The rule is used for rows of embedding tables. For variables there is no op, so ApplyInSteps
// builds their updates from elementary ops.
Lamb::Lamb(const LambOptions& options)
    : MomentOptimizer(kLamb, options), excluded_(options.exclude_from_weight_decay) {
  AddScalar({"weight_decay", options.weight_decay});
}

Lamb::Scalars Lamb::ScalarsFor(const Variable& var) const {
  Scalars scalars = MomentOptimizer::ScalarsFor(var);
  if (!Decays(var, excluded_)) scalars["weight_decay"] = Constant(var.graph(), 0, var.dtype());
  return scalars;
}

Operation Lamb::ApplyDense(Output grad, const Variable& var) { return ApplyInSteps(grad, var); }
Operation Lamb::ApplySparse(const IndexedSlices& grad, const Variable& var) {
  return ApplyInSteps(grad, var);
}

Operation Lamb::ApplyInSteps(const Grad& grad, const Variable& var) {
  const Numbers n = NumbersFor(var);
  const Output m = NextFirstMoment(grad, var, n);
  const Output v = NextSecondMoment(grad, var, n);
  const Output value = var.Read();
  const Output mean = m / (1 - n.beta1_power);
  const Output size = Sqrt(v / (1 - n.beta2_power)) + n.epsilon;
  Output step = mean / size;
  if (Decays(var, excluded_)) {
    step = step + value * Typed("weight_decay", var).tensor;
  }
  const Output rate = n.learning_rate * RatioOfNorms(Norm(value), Norm(step));
  const Operation update = var.AssignSub(step * rate, {.use_locking = use_locking()});
  return Group(var.graph(), {update, m, v});
}

}  // namespace sluice
