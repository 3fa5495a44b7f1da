// accumulator += gradient^2; var -= learning_rate * gradient / sqrt(accumulator) (Duchi et al.
// 2011).
#ifndef SLUICE_TRAINING_OPTIMIZER_ADAGRAD_H_
#define SLUICE_TRAINING_OPTIMIZER_ADAGRAD_H_

#include <string>

#include "training/optimizer/rule_optimizer.h"

namespace sluice {

struct AdagradOptions {
  HyperParameter learning_rate = 0.01f;
  double initial_accumulator_value = 0.1;  // must be positive
  bool use_locking = false;
  std::string name = "Adagrad";
};

// Slot "accumulator", saved as "<var>/Adagrad".
class Adagrad : public RuleOptimizer {
 public:
  explicit Adagrad(const AdagradOptions& options);
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_ADAGRAD_H_
