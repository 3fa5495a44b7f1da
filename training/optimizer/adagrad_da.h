// Adagrad with dual averaging: for sparse linear models (Duchi et al. 2011).
#ifndef SLUICE_TRAINING_OPTIMIZER_ADAGRAD_DA_H_
#define SLUICE_TRAINING_OPTIMIZER_ADAGRAD_DA_H_

#include <string>
#include <vector>

#include "training/optimizer/hyper_parameter.h"
#include "training/optimizer/update_op.h"

namespace sluice {

struct AdagradDAOptions {
  HyperParameter learning_rate = 0.01f;
  // Counts the updates from 0; must be given.
  Variable global_step;
  double initial_gradient_squared_accumulator_value = 0.1;  // positive
  float l1_regularization_strength = 0.0f;
  float l2_regularization_strength = 0.0f;
  bool use_locking = false;
  std::string name = "AdagradDA";
};

// Slots "gradient_accumulator" and "gradient_squared_accumulator", saved as "<var>/AdagradDA" and
// "<var>/AdagradDA_1".
class AdagradDA : public FusedOptimizer {
 public:
  explicit AdagradDA(AdagradDAOptions options);

 protected:
  void CreateSlots(const std::vector<Variable>& vars) override;
  void Prepare(Graph& graph) override;
  Operation ApplyFused(const Grad& grad, const Variable& var) override;

 private:
  AdagradDAOptions options_;
  Output learning_rate_;
  Output global_step_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_ADAGRAD_DA_H_
