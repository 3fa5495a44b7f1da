#include "training/optimizer/adadelta.h"

namespace sluice {

Adadelta::Adadelta(const AdadeltaOptions& options)
    : RuleOptimizer(
          kAdadelta, options, {{"accum"}, {"accum_update"}},
          {{"lr", options.learning_rate}, {"rho", options.rho}, {"epsilon", options.epsilon}}) {}

}  // namespace sluice
