// Steps scaled by the ratio of the sizes of past steps and past gradients (Zeiler 2012).
#ifndef SLUICE_TRAINING_OPTIMIZER_ADADELTA_H_
#define SLUICE_TRAINING_OPTIMIZER_ADADELTA_H_

#include <string>

#include "training/optimizer/rule_optimizer.h"

namespace sluice {

struct AdadeltaOptions {
  HyperParameter learning_rate = 0.001f;
  HyperParameter rho = 0.95f;
  HyperParameter epsilon = 1e-8f;
  bool use_locking = false;
  std::string name = "Adadelta";
};

// Slots "accum" and "accum_update", saved as "<var>/Adadelta" and "<var>/Adadelta_1".
class Adadelta : public RuleOptimizer {
 public:
  explicit Adadelta(const AdadeltaOptions& options = {});
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_ADADELTA_H_
