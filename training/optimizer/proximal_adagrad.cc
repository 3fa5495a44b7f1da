#include "training/optimizer/proximal_adagrad.h"

namespace sluice {

ProximalAdagrad::ProximalAdagrad(const ProximalAdagradOptions& options)
    : RuleOptimizer(
          kProximalAdagrad, options,
          {{.slot = "accum", .name = "accumulator", .constant = options.initial_accumulator_value}},
          {{"lr", options.learning_rate, "learning_rate"},
           {"l1", options.l1_regularization_strength, "l1_regularization_strength"},
           {"l2", options.l2_regularization_strength, "l2_regularization_strength"}}) {
  CheckPositive("initial_accumulator_value", options.initial_accumulator_value);
}

}  // namespace sluice
