// Adam with weight decay: AdamW and LAMB.
//
//   AdamW adam({.learning_rate = 1e-4f, .exclude_from_weight_decay = {"bias", "LayerNorm"}});
//   Operation train = adam.Minimize(loss, {.global_step = &step});
//
// The decay is a part of the step, not of the gradient from which the step is computed. So Adam's
// division by the root of the second moment does not change the decay.
//
// Thread safety: none, as for Optimizer. The graph owns the slots.
// Errors: those of Optimizer.
// Reference: tf.keras.optimizers.AdamW; tfa.optimizers.LAMB. AdamW and Lamb also have the variables
// beta1_power and beta2_power of Adam (adam.h).
#ifndef SLUICE_TRAINING_OPTIMIZER_WEIGHT_DECAY_H_
#define SLUICE_TRAINING_OPTIMIZER_WEIGHT_DECAY_H_

#include <string>
#include <vector>

#include "training/optimizer/adam.h"

namespace sluice {

// Options of AdamW; see AdamOptions for those of Adam.
struct AdamWOptions {
  HyperParameter learning_rate = 0.001f;
  // The fraction of a variable's value that a step with learning rate 1 subtracts.
  HyperParameter weight_decay = 0.004f;
  HyperParameter beta1 = 0.9f;
  HyperParameter beta2 = 0.999f;
  HyperParameter epsilon = 1e-8f;
  // Variables do not decay if their name contains one of these, such as "bias".
  std::vector<std::string> exclude_from_weight_decay = {};
  bool use_locking = false;
  std::string name = "AdamW";
};

// Adam with decoupled weight decay (Loshchilov and Hutter 2019): computes var -= learning_rate *
// weight_decay * var before Adam's update of the variable. All rows decay, even if the gradient is
// sparse. Rows of an EmbeddingTable decay only in steps in which they have a gradient.
//
// Slots "m" and "v", saved as "<var>/AdamW" and "<var>/AdamW_1".
class AdamW : public Adam {
 public:
  explicit AdamW(const AdamWOptions& options = {});

 protected:
  Scalars ScalarsFor(const Variable& var) const override;
  Operation ApplySparse(const IndexedSlices& grad, const Variable& var) override;

 private:
  Operation Decay(const Variable& var, Operation grad);

  std::vector<std::string> excluded_;
};

// Options of LAMB; see AdamWOptions.
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

// Adam for large batches, in which the length of a variable's step is proportional to the
// variable's norm (You et al. 2020). Step t computes the moments m and v of Adam, and then
//
//   u = m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon) + weight_decay * var
//   var -= learning_rate * |var| / |u| * u
//
// |var| / |u| is 1 if one of the norms is 0. Slots "m" and "v", saved as "<var>/LAMB" and
// "<var>/LAMB_1". A sparse gradient costs as much as a dense one. In an embedding table, |var| and
// |u| are the norms of a row, and only rows with a gradient change, as in FBGEMM's LAMB.
class Lamb : public MomentOptimizer {
 public:
  explicit Lamb(const LambOptions& options = {});

 protected:
  Scalars ScalarsFor(const Variable& var) const override;
  Operation ApplyDense(Output grad, const Variable& var) override;
  Operation ApplySparse(const IndexedSlices& grad, const Variable& var) override;

 private:
  Operation ApplyInSteps(const Grad& grad, const Variable& var);

  std::vector<std::string> excluded_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_WEIGHT_DECAY_H_
