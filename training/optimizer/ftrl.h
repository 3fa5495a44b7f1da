// Follow the regularised leader, proximal (McMahan et al. 2013), for sparse linear models.
#ifndef SLUICE_TRAINING_OPTIMIZER_FTRL_H_
#define SLUICE_TRAINING_OPTIMIZER_FTRL_H_

#include <string>

#include "training/optimizer/rule_optimizer.h"

namespace sluice {

struct FtrlOptions {
  HyperParameter learning_rate = 0.001f;
  float learning_rate_power = -0.5f;       // at most 0
  double initial_accumulator_value = 0.1;  // at least 0, as all below
  float l1_regularization_strength = 0.0f;
  float l2_regularization_strength = 0.0f;
  // Above 0: a penalty on the size of active weights (FtrlV2).
  float l2_shrinkage_regularization_strength = 0.0f;
  float beta = 0.0f;
  std::string accum_name = "";  // of the slots' variables; "" = the optimizer's name
  std::string linear_name = "";
  bool use_locking = false;
  std::string name = "Ftrl";
};

// Slots "accum" and "linear", saved as "<var>/Ftrl" and "<var>/Ftrl_1".
class Ftrl : public RuleOptimizer {
 public:
  explicit Ftrl(FtrlOptions options);

 protected:
  void Prepare(Graph& graph) override;

 private:
  FtrlOptions options_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_FTRL_H_
