#include "training/optimizer/proximal_gradient_descent.h"

namespace sluice {

ProximalGradientDescent::ProximalGradientDescent(ProximalGradientDescentOptions options)
    : FusedOptimizer(options.name, options.use_locking), options_(std::move(options)) {}

void ProximalGradientDescent::Prepare(Graph& graph) {
  learning_rate_ = options_.learning_rate.In(graph, "learning_rate");
  l1_ = options_.l1_regularization_strength.In(graph, "l1_regularization_strength");
  l2_ = options_.l2_regularization_strength.In(graph, "l2_regularization_strength");
}

Operation ProximalGradientDescent::ApplyFused(const Grad& grad, const Variable& var) {
  return UpdateOp(*this, "ProximalGradientDescent", var, grad)
      .Number(learning_rate_)
      .Number(l1_)
      .Number(l2_)
      .Gradient()
      .Finish();
}

}  // namespace sluice
