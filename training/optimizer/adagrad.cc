#include "training/optimizer/adagrad.h"

namespace sluice {

Adagrad::Adagrad(const AdagradOptions& options)
    : RuleOptimizer(kAdagrad, options,
                    {{"accum", "accumulator", ConstantInit(options.initial_accumulator_value)}},
                    {{"lr", options.learning_rate, "learning_rate"}}) {
  CheckPositive("initial_accumulator_value", options.initial_accumulator_value);
}

}  // namespace sluice
