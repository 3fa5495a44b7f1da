// Adam and its relatives AMSGrad and AdaMax. AdamW and LAMB are in weight_decay.h.
//
//   Operation train = Adam({.learning_rate = 1e-3f}).Minimize(loss, {.global_step = &step});
//
// The loops of the updates are in ops/update/adam_kernels.cc.
//
// In step t, the variables beta1_power and beta2_power of these optimizers have the values beta1^t
// and beta2^t. Checkpoints contain both.
//
// Thread safety: none, as for Optimizer. The graph owns the slots.
// Errors: those of Optimizer.
// Reference: tf.compat.v1.train.AdamOptimizer; tf.contrib.opt.AdaMaxOptimizer;
// tf.keras.optimizers.Adam(amsgrad=True).
#ifndef SLUICE_TRAINING_OPTIMIZER_ADAM_H_
#define SLUICE_TRAINING_OPTIMIZER_ADAM_H_

#include "training/optimizer/moments.h"

namespace sluice {

// Options of Adam. The defaults are those of TensorFlow.
struct AdamOptions {
  HyperParameter learning_rate = 0.001f;
  // Decays of the moments, per step, in [0, 1).
  HyperParameter beta1 = 0.9f;
  HyperParameter beta2 = 0.999f;
  // The paper's "epsilon hat": added to the square root of v before the bias correction.
  HyperParameter epsilon = 1e-8f;
  // Whether updates of ref variables take a lock. Resource variables do not need it.
  bool use_locking = false;
  std::string name = "Adam";
};

// Adam (Kingma and Ba 2014), in TensorFlow's form. Step t computes
//
//   m = beta1 * m + (1 - beta1) * gradient;
//   v = beta2 * v + (1 - beta2) * gradient^2;
//   var -= learning_rate * sqrt(1 - beta2^t) / (1 - beta1^t) * m / (sqrt(v) + epsilon).
//
// Slots "m" and "v", saved as "<var>/Adam" and "<var>/Adam_1"; variables beta1_power, beta2_power.
// A sparse gradient decays the moments of all rows, as a dense gradient with zeros would, and so
// costs as much. For large embeddings consider AdaMax or Adagrad. In an embedding table
// (ops/embedding/embedding_table.h) only rows with a gradient change (lazy Adam).
class Adam : public MomentOptimizer {
 public:
  explicit Adam(const AdamOptions& options = {});

 protected:
  using MomentOptimizer::MomentOptimizer;  // for derived optimizers, which have other options
  Operation ApplySparse(const IndexedSlices& grad, const Variable& var) override;
};

// Options of AMSGrad; see AdamOptions.
struct AMSGradOptions {
  HyperParameter learning_rate = 0.001f;
  HyperParameter beta1 = 0.9f;
  HyperParameter beta2 = 0.999f;
  HyperParameter epsilon = 1e-8f;
  bool use_locking = false;
  std::string name = "AMSGrad";
};

// Adam whose update divides by the square root of the largest v so far (Reddi, Kale and Kumar
// 2018). So steps do not grow again when gradients become small. Slots "m", "v" and "vhat" (the
// largest v), saved as "<var>/AMSGrad", "<var>/AMSGrad_1" and "<var>/AMSGrad_2".
class AMSGrad : public MomentOptimizer {
 public:
  explicit AMSGrad(const AMSGradOptions& options = {});

 protected:
  void CreateSlots(const std::vector<Variable>& vars) override;
  Operation ApplyDense(Output grad, const Variable& var) override;
  Operation ApplySparse(const IndexedSlices& grad, const Variable& var) override;

 private:
  Operation ApplyInSteps(const Grad& grad, const Variable& var);
};

// Options of AdaMax; see AdamOptions.
struct AdaMaxOptions {
  HyperParameter learning_rate = 0.001f;
  HyperParameter beta1 = 0.9f;
  HyperParameter beta2 = 0.999f;
  HyperParameter epsilon = 1e-8f;
  bool use_locking = false;
  std::string name = "AdaMax";
};

// AdaMax: Adam in which v = max(beta2 * v, |gradient|), a decaying maximum of the gradients,
// replaces the square root of the second moment (Kingma and Ba 2014, section 7).
//
// Slots "m" and "v", saved as "<var>/AdaMax" and "<var>/AdaMax_1". A sparse gradient changes only
// its own rows of the variable and of the slots.
class AdaMax : public MomentOptimizer {
 public:
  explicit AdaMax(const AdaMaxOptions& options = {});

 protected:
  Scalars ScalarsFor(const Variable& var) const override;
  Operation ApplySparse(const IndexedSlices& grad, const Variable& var) override;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_ADAM_H_
