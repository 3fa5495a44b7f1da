#include "training/optimizer/momentum.h"

namespace sluice {

Momentum::Momentum(const MomentumOptions& options)
    : RuleOptimizer(
          kMomentum, options, {{"accum", "momentum"}},
          {{"lr", options.learning_rate, "learning_rate"}, {"momentum", options.momentum}}) {
  SetFlag(options.use_nesterov);
}

}  // namespace sluice
