// Adam and its relatives AMSGrad and AdaMax.
#ifndef SLUICE_TRAINING_OPTIMIZER_ADAM_H_
#define SLUICE_TRAINING_OPTIMIZER_ADAM_H_

#include "training/optimizer/moments.h"

namespace sluice {

// Adam (Kingma and Ba 2014), in TensorFlow's form: epsilon is the paper's "epsilon hat".
struct AdamOptions {
  HyperParameter learning_rate = 0.001f;
  HyperParameter beta1 = 0.9f;
  HyperParameter beta2 = 0.999f;
  HyperParameter epsilon = 1e-8f;
  bool use_locking = false;
  std::string name = "Adam";
};

// Slots "m" and "v", saved as "<var>/Adam" and "<var>/Adam_1"; variables beta1_power, beta2_power.
// A sparse gradient decays the moments of all rows, as a dense one with zeros would.
class Adam : public MomentOptimizer {
 public:
  explicit Adam(const AdamOptions& options = {});

 protected:
  using MomentOptimizer::MomentOptimizer;  // for relatives with more options
  Operation ApplySparse(const IndexedSlices& grad, const Variable& var) override;
};

struct AMSGradOptions {
  HyperParameter learning_rate = 0.001f;
  HyperParameter beta1 = 0.9f;
  HyperParameter beta2 = 0.999f;
  HyperParameter epsilon = 1e-8f;
  bool use_locking = false;
  std::string name = "AMSGrad";
};

// Adam divided by the largest second moment so far (Reddi, Kale and Kumar 2018), so that steps do
// not grow again. Slots "m", "v" and "vhat", saved as "<var>/AMSGrad", "_1", "_2".
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

// AdaMax: Adam in which the largest recent gradient replaces the root of the second moment (Kingma
// and Ba 2014, section 7).
struct AdaMaxOptions {
  HyperParameter learning_rate = 0.001f;
  HyperParameter beta1 = 0.9f;
  HyperParameter beta2 = 0.999f;
  HyperParameter epsilon = 1e-8f;
  bool use_locking = false;
  std::string name = "AdaMax";
};

// Slots "m" and "v", saved as "<var>/AdaMax" and "<var>/AdaMax_1". A sparse gradient moves its own
// rows only.
class AdaMax : public MomentOptimizer {
 public:
  explicit AdaMax(const AdaMaxOptions& options = {});

 protected:
  Scalars ScalarsFor(const Variable& var) const override;
  Operation ApplySparse(const IndexedSlices& grad, const Variable& var) override;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_ADAM_H_
