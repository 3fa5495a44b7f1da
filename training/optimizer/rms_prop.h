// Optimizers that divide by running means of squares: RMSProp and Adadelta.
#ifndef SLUICE_TRAINING_OPTIMIZER_RMS_PROP_H_
#define SLUICE_TRAINING_OPTIMIZER_RMS_PROP_H_

#include <string>

#include "training/optimizer/rule_optimizer.h"

namespace sluice {

// Gradients divided by the root of their mean square (Tieleman and Hinton 2012).
struct RMSPropOptions {
  HyperParameter learning_rate = 0.001f;
  HyperParameter decay = 0.9f;
  HyperParameter momentum = 0.0f;
  HyperParameter epsilon = 1e-10f;
  // Divides by the standard deviation instead (Graves 2013).
  bool centered = false;
  bool use_locking = false;
  std::string name = "RMSProp";
};

// Slots "rms", initially 1, with `centered` "mg", and "momentum", saved as "<var>/RMSProp", "_1",
// "_2".
class RMSProp : public RuleOptimizer {
 public:
  explicit RMSProp(const RMSPropOptions& options);
};

// Steps scaled by the ratio of the sizes of past steps and past gradients (Zeiler 2012).
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

#endif  // SLUICE_TRAINING_OPTIMIZER_RMS_PROP_H_
