// FTRL-Proximal ("follow the regularised leader") for sparse linear models. Its L1 penalty makes
// weights of rare features exactly 0.
//
//   Ftrl ftrl({.learning_rate = 0.1f, .l1_regularization_strength = 0.001f});
//   Operation train = ftrl.Minimize(loss, {.global_step = &step});
//
// Thread safety: none, as for Optimizer. The graph owns the slots.
// Errors: those of Optimizer. INVALID_ARGUMENT for options outside of the ranges below.
// Reference: tf.compat.v1.train.FtrlOptimizer. McMahan et al. 2013, "Ad Click Prediction".
#ifndef SLUICE_TRAINING_OPTIMIZER_FTRL_H_
#define SLUICE_TRAINING_OPTIMIZER_FTRL_H_

#include <string>

#include "training/optimizer/rule_optimizer.h"

namespace sluice {

// Options of Ftrl. The defaults are those of TensorFlow.
struct FtrlOptions {
  HyperParameter learning_rate = 0.001f;

  // The learning rate is multiplied by this power of the accumulator. At most 0: 0 keeps the rate
  // fixed, -0.5 is the paper's value.
  float learning_rate_power = -0.5f;
  // The value of the accumulator before the first step. At least 0, like all strengths below.
  double initial_accumulator_value = 0.1;
  // Strengths of the L1 and L2 penalties on the weights.
  float l1_regularization_strength = 0.0f;
  float l2_regularization_strength = 0.0f;

  // The strength of a second L2 penalty, whose gradient is added to the gradient of the loss. A
  // sparse gradient applies it only to its own rows. If it is above 0, the update is an op of
  // TensorFlow's second version, such as ApplyFtrlV2.
  float l2_shrinkage_regularization_strength = 0.0f;
  // The paper's beta, which is added to the root of the accumulator.
  float beta = 0.0f;
  // The variables of the two slots are "<var>/<accum_name>" and "<var>/<linear_name>". "" stands
  // for the optimizer's name.
  std::string accum_name = "";
  std::string linear_name = "";
  bool use_locking = false;
  std::string name = "Ftrl";
};

// The FTRL-Proximal optimizer. Its slots "accum" and "linear" are saved as "<var>/Ftrl" and
// "<var>/Ftrl_1" unless FtrlOptions sets other names. A sparse gradient changes only its own rows.
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
