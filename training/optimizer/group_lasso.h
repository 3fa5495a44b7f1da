// Optimizers with a sparse group lasso: penalties that make single weights and whole rows exactly
// 0. Embedding rows that do not help the model can then be dropped. A row is a slice along the
// first dimension of a variable, or a row of an embedding table.
//
//   GroupAdam adam({.learning_rate = 1e-3f, .l21_regularization_strength = 1e-3f});
//   Operation train = adam.Minimize(loss, {.global_step = &step});
//
// Thread safety: none, as for Optimizer. The graph owns the slots.
// Errors: those of Optimizer. INVALID_ARGUMENT for options outside of the ranges below.
// Reference: Yue et al. 2021, arXiv:2107.14432; SparseGroupFtrlOptimizer and GroupAdamOptimizer of
// TFPlus (dlrover). GroupFtrl with an l1 strength of 0 computes the same as DeepRec's FTRL for
// embedding variables, if that optimizer gets l21 * sqrt(elements of a row) as its l1 strength.
#ifndef SLUICE_TRAINING_OPTIMIZER_GROUP_LASSO_H_
#define SLUICE_TRAINING_OPTIMIZER_GROUP_LASSO_H_

#include <string>
#include <vector>

#include "training/optimizer/moments.h"

namespace sluice {

// Options of GroupFtrl; see FtrlOptions.
struct GroupFtrlOptions {
  HyperParameter learning_rate = 0.01f;
  float learning_rate_power = -0.5f;       // at most 0
  double initial_accumulator_value = 0.1;  // at least 0, like the three strengths below
  float l1_regularization_strength = 0.0f;
  float l2_regularization_strength = 0.0f;
  // The strength of the penalty on the norm of a row. The optimizer multiplies it by the square
  // root of the number of elements of the row.
  float l21_regularization_strength = 0.0f;
  bool use_locking = false;
  std::string name = "GroupFtrl";
};

// FTRL with a sparse group lasso (kGroupFtrl in ops/update/rules.h has the formulas). Slots "accum"
// and "linear", saved as "<var>/GroupFtrl" and "<var>/GroupFtrl_1". A sparse gradient changes its
// own rows only.
class GroupFtrl : public RuleOptimizer {
 public:
  explicit GroupFtrl(const GroupFtrlOptions& options = {});
};

// Options of GroupAdam; see AdamOptions.
struct GroupAdamOptions {
  HyperParameter learning_rate = 0.001f;
  HyperParameter beta1 = 0.9f;
  HyperParameter beta2 = 0.999f;
  HyperParameter epsilon = 1e-8f;
  // The strengths of the penalties on single weights (l1, l2) and on the norms of rows (l21, as in
  // GroupFtrlOptions). At least 0.
  float l1_regularization_strength = 0.0f;
  float l2_regularization_strength = 0.0f;
  float l21_regularization_strength = 0.0f;
  bool use_locking = false;
  std::string name = "GroupAdam";
};

// Adam with a sparse group lasso (kGroupAdam in ops/update/rules.h has the formulas). Without
// penalties it is Adam in which a sparse gradient changes its own rows only. Slots "m", "v" and
// "linear", saved as "<var>/GroupAdam", "<var>/GroupAdam_1" and "<var>/GroupAdam_2".
class GroupAdam : public MomentOptimizer {
 public:
  explicit GroupAdam(const GroupAdamOptions& options = {});

 protected:
  void CreateSlots(const std::vector<Variable>& vars) override;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_GROUP_LASSO_H_
