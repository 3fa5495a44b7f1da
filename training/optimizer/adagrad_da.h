// Adagrad with dual averaging, for sparse linear models (Duchi et al. 2011).
#ifndef SLUICE_TRAINING_OPTIMIZER_ADAGRAD_DA_H_
#define SLUICE_TRAINING_OPTIMIZER_ADAGRAD_DA_H_

#include <string>

#include "training/optimizer/rule_optimizer.h"

namespace sluice {

struct AdagradDAOptions {
  HyperParameter learning_rate = 0.01f;
  Variable global_step;                                     // required; counts the updates from 0
  double initial_gradient_squared_accumulator_value = 0.1;  // must be positive
  float l1_regularization_strength = 0.0f;
  float l2_regularization_strength = 0.0f;
  bool use_locking = false;
  std::string name = "AdagradDA";
};

// Slots "gradient_accumulator" and "gradient_squared_accumulator", saved as "<var>/AdagradDA" and
// "<var>/AdagradDA_1".
class AdagradDA : public RuleOptimizer {
 public:
  explicit AdagradDA(const AdagradDAOptions& options);

 protected:
  void Prepare(Graph& graph) override;
  Scalars ScalarsFor(const Variable& var) const override;

 private:
  Variable global_step_;
  float l1_, l2_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_ADAGRAD_DA_H_
