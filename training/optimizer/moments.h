// The base class of Adam and its relatives. For each trained variable it keeps two moments:
// decaying means of the gradient and of its square. It also keeps the powers of the decays beta1
// and beta2. They correct the bias of moments that start at 0 (Kingma and Ba 2014, section 3).
#ifndef SLUICE_TRAINING_OPTIMIZER_MOMENTS_H_
#define SLUICE_TRAINING_OPTIMIZER_MOMENTS_H_

#include <string_view>
#include <vector>

#include "training/optimizer/rule_optimizer.h"

namespace sluice {

// Creates the slots "m" and "v" of each variable, initially 0, and the variables beta1_power and
// beta2_power. Each graph has one pair of these powers, colocated with the trained variable whose
// name is the first in alphabetical order.
class MomentOptimizer : public RuleOptimizer {
 protected:
  // `options` has the members of AdamOptions.
  template <typename Options>
  MomentOptimizer(const UpdateRule& rule, const Options& options)
      : RuleOptimizer(rule, options, {{"m"}, {"v"}},
                      {{"lr", options.learning_rate, "learning_rate"},
                       {"beta1", options.beta1},
                       {"beta2", options.beta2},
                       {"epsilon", options.epsilon}}),
        beta1_(options.beta1),
        beta2_(options.beta2) {}

  void CreateSlots(const std::vector<Variable>& vars) override;
  void Prepare(Graph& graph) override;
  // Adds the op that multiplies the powers by beta1 and beta2 after all updates.
  Operation Finish(Graph& graph, const std::vector<Operation>& updates,
                   std::string_view name) override;

  // The scalars of an update, cast to the type of the variable. Optimizers whose update consists of
  // several ops use them.
  struct Numbers {
    ScalarValue beta1_power, beta2_power;
    Output learning_rate, beta1, beta2, epsilon;
  };
  Numbers NumbersFor(const Variable& var) const;
  // Returns learning_rate * sqrt(1 - beta2_power) / (1 - beta1_power).
  static Output CorrectedRate(const Numbers& n);
  // Each of these functions adds the nodes that update one moment by `grad`, and returns the new
  // moment. If the gradient is sparse, the moments of the other rows decay as for a gradient of 0.
  Output NextFirstMoment(const Grad& grad, const Variable& var, const Numbers& n);
  Output NextSecondMoment(const Grad& grad, const Variable& var, const Numbers& n);

 private:
  // Assigns slot * decay + (1 - decay) * grad to `slot`, and returns the new value.
  Output DecayAndAdd(const Variable& slot, Output decay, const Grad& grad);

  HyperParameter beta1_, beta2_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_MOMENTS_H_
