// Adam with weight decay: AdamW and LAMB.
//
// The decay is not a part of the gradient, so Adam does not divide it by the gradient's size.
#ifndef SLUICE_TRAINING_OPTIMIZER_WEIGHT_DECAY_H_
#define SLUICE_TRAINING_OPTIMIZER_WEIGHT_DECAY_H_

#include <string>
#include <vector>

#include "training/optimizer/adam.h"

namespace sluice {

struct AdamWOptions {
  HyperParameter learning_rate = 0.001f;
  HyperParameter weight_decay = 0.004f;
  HyperParameter beta1 = 0.9f;
  HyperParameter beta2 = 0.999f;
  HyperParameter epsilon = 1e-8f;
  // Variables whose name contains one of these do not decay: {"bias", "LayerNorm"}.
  std::vector<std::string> exclude_from_weight_decay = {};
  bool use_locking = false;
  std::string name = "AdamW";
};

// Loshchilov and Hutter 2019. Before Adam's update, var -= learning_rate * weight_decay * var, on
// all rows even if the gradient is sparse. Slots "m" and "v", saved as "<var>/AdamW" and
// "<var>/AdamW_1".
class AdamW : public Adam {
 public:
  explicit AdamW(const AdamWOptions& options = {});

 protected:
  Operation ApplyDense(Output grad, const Variable& var) override;
  Operation ApplySparse(const IndexedSlices& grad, const Variable& var) override;

 private:
  Operation Decay(const Variable& var, Operation grad);

  std::vector<std::string> excluded_;
};

struct LambOptions {
  HyperParameter learning_rate = 0.001f;
  HyperParameter weight_decay = 0.01f;
  HyperParameter beta1 = 0.9f;
  HyperParameter beta2 = 0.999f;
  HyperParameter epsilon = 1e-6f;
  std::vector<std::string> exclude_from_weight_decay = {};
  bool use_locking = false;
  std::string name = "LAMB";
};

// You et al. 2020, for large batches. u = m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon) +
// weight_decay * var; var -= learning_rate * |var| / |u| * u, and |var| / |u| is 1 if one of
// the norms is 0. Slots "m" and "v", saved as "<var>/LAMB" and "<var>/LAMB_1".
class Lamb : public MomentOptimizer {
 public:
  explicit Lamb(const LambOptions& options = {});

 protected:
  Operation ApplyDense(Output grad, const Variable& var) override;
  Operation ApplySparse(const IndexedSlices& grad, const Variable& var) override;

 private:
  Operation ApplyInSteps(const Grad& grad, const Variable& var);

  std::vector<std::string> excluded_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_WEIGHT_DECAY_H_
