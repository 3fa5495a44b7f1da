#include "training/optimizer/gradient_descent.h"

#include "ops/builders/ops.h"
#include "ops/sugar.h"

namespace sluice {

GradientDescent::GradientDescent(GradientDescentOptions options)
    : Optimizer(options.name, options.use_locking), options_(std::move(options)) {}

void GradientDescent::Prepare(Graph& graph) {
  learning_rate_ = options_.learning_rate.In(graph, "learning_rate");
}

Operation GradientDescent::ApplyDense(Output grad, const Variable& var) {
  const Output rate = CastTo(learning_rate_, var);
  if (var.is_resource()) {
    return ResourceApplyGradientDescent(var.handle(), rate, grad, {.use_locking = use_locking()});
  }
  return ApplyGradientDescent(var.handle(), rate, grad, {.use_locking = use_locking()});
}

Operation GradientDescent::ApplySparse(const IndexedSlices& grad, const Variable& var) {
  return ApplySparseDuplicateIndices(grad, var);
}

Operation GradientDescent::ApplySparseDuplicateIndices(const IndexedSlices& grad,
                                                       const Variable& var) {
  if (var.is_resource()) {
    return ResourceScatterAdd(var.handle(), grad.indices,
                              Neg(grad.values) * CastTo(learning_rate_, var));
  }
  return ScatterSub(var.handle(), grad.indices, grad.values * CastTo(learning_rate_, var),
                    {.use_locking = use_locking()});
}

}  // namespace sluice
