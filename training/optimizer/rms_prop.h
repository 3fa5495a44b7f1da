// Optimizers that divide a gradient by the root of the running mean of its square: RMSProp and
// Adadelta.
//
//   Operation train = RMSProp({.learning_rate = 1e-3f}).Minimize(loss, {.global_step = &step});
//
// A sparse gradient changes only its own rows of the variable and of the slots.
//
// Thread safety: none, as for Optimizer. The graph owns the slots.
// Errors: those of Optimizer.
// Reference: tf.compat.v1.train.RMSPropOptimizer and AdadeltaOptimizer.
#ifndef SLUICE_TRAINING_OPTIMIZER_RMS_PROP_H_
#define SLUICE_TRAINING_OPTIMIZER_RMS_PROP_H_

#include <string>

#include "training/optimizer/rule_optimizer.h"

namespace sluice {

// Options of RMSProp. The defaults are those of TensorFlow.
struct RMSPropOptions {
  HyperParameter learning_rate = 0.001f;
  // Decay of the running mean of squares, per step.
  HyperParameter decay = 0.9f;
  HyperParameter momentum = 0.0f;
  HyperParameter epsilon = 1e-10f;
  // Whether to divide by the standard deviation of the gradient instead of the root of its mean
  // square (Graves 2013). This needs a third slot.
  bool centered = false;
  bool use_locking = false;
  std::string name = "RMSProp";
};

// Divides each gradient by the root of its mean square (Tieleman and Hinton 2012):
//
//   rms = decay * rms + (1 - decay) * gradient^2
//   momentum_slot = momentum * momentum_slot + learning_rate * gradient / sqrt(rms + epsilon)
//   var -= momentum_slot
//
// Slots "rms" (initially 1), "mg" (the mean gradient, only if `centered`) and "momentum", which is
// momentum_slot above. In this order, they are saved as "<var>/RMSProp", "<var>/RMSProp_1" and so
// on.
class RMSProp : public RuleOptimizer {
 public:
  explicit RMSProp(const RMSPropOptions& options);
};

// Options of Adadelta. `rho` is the decay of the running means, per step.
struct AdadeltaOptions {
  HyperParameter learning_rate = 0.001f;
  HyperParameter rho = 0.95f;
  HyperParameter epsilon = 1e-8f;
  bool use_locking = false;
  std::string name = "Adadelta";
};

// Multiplies each gradient by the root mean square of past steps, divided by that of past gradients
// (Zeiler 2012). The paper's form has learning_rate 1. Slots "accum" (mean square of gradients) and
// "accum_update" (mean square of steps), saved as "<var>/Adadelta" and "<var>/Adadelta_1".
class Adadelta : public RuleOptimizer {
 public:
  explicit Adadelta(const AdadeltaOptions& options = {});
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_RMS_PROP_H_
