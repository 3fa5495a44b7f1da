#include "training/optimizer/rms_prop.h"

namespace sluice {

RMSProp::RMSProp(const RMSPropOptions& options)
    : RuleOptimizer(options.centered ? kCenteredRMSProp : kRMSProp, options,
                    options.centered
                        ? std::vector<RuleSlot>{{"ms", "rms", Ones()}, {"mg"}, {"mom", "momentum"}}
                        : std::vector<RuleSlot>{{"ms", "rms", Ones()}, {"mom", "momentum"}},
                    {{"lr", options.learning_rate, "learning_rate"},
                     {"rho", options.decay, "decay"},
                     {"momentum", options.momentum},
                     {"epsilon", options.epsilon}}) {}

Adadelta::Adadelta(const AdadeltaOptions& options)
    : RuleOptimizer(
          kAdadelta, options, {{"accum"}, {"accum_update"}},
          {{"lr", options.learning_rate}, {"rho", options.rho}, {"epsilon", options.epsilon}}) {}

}  // namespace sluice
