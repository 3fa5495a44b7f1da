#include "training/optimizer/proximal_gradient_descent.h"

namespace sluice {

ProximalGradientDescent::ProximalGradientDescent(const ProximalGradientDescentOptions& options)
    : RuleOptimizer(kProximalGradientDescent, options, /*slots=*/{},
                    {{"alpha", options.learning_rate, "learning_rate"},
                     {"l1", options.l1_regularization_strength, "l1_regularization_strength"},
                     {"l2", options.l2_regularization_strength, "l2_regularization_strength"}}) {}

}  // namespace sluice
