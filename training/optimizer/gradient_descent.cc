#include "training/optimizer/gradient_descent.h"

#include "ops/math/rounding_builders.h"
#include "ops/state/scatter_builders.h"
#include "ops/sugar.h"

namespace sluice {

GradientDescent::GradientDescent(const GradientDescentOptions& options)
    : RuleOptimizer(kGradientDescent, options, /*slots=*/{},
                    {{"alpha", options.learning_rate, "learning_rate"}}) {}

Operation GradientDescent::ApplySparse(const IndexedSlices& grad, const Variable& var) {
  return ApplySparseDuplicateIndices(grad, var);
}

Operation GradientDescent::ApplySparseDuplicateIndices(const IndexedSlices& grad,
                                                       const Variable& var) {
  const Output rate = Typed("alpha", var).tensor;
  if (var.is_resource()) {
    return ResourceScatterAdd(var.handle(), grad.indices, Neg(grad.values) * rate);
  }
  return ScatterSub(var.handle(), grad.indices, grad.values * rate, {.use_locking = use_locking()});
}

ProximalGradientDescent::ProximalGradientDescent(const ProximalGradientDescentOptions& options)
    : RuleOptimizer(kProximalGradientDescent, options, /*slots=*/{},
                    {{"alpha", options.learning_rate, "learning_rate"},
                     {"l1", options.l1_regularization_strength, "l1_regularization_strength"},
                     {"l2", options.l2_regularization_strength, "l2_regularization_strength"}}) {}

}  // namespace sluice
