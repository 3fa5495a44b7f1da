// The op that applies one gradient to one variable by an optimizer's rule, in the form that fits:
// Apply<rule>, SparseApply<rule>, ResourceApply<rule>, ResourceSparseApply<rule>.
//
//   UpdateOp(*this, "Momentum", var, grad)
//       .Slot(accumulation).Number(learning_rate).Gradient().Number(momentum).Finish();
//
// Inputs come in the order of the op's arguments, after the variable itself. Errors stay in the
// graph. Nodes and names are those of TensorFlow's optimizers.
#ifndef SLUICE_TRAINING_OPTIMIZER_UPDATE_OP_H_
#define SLUICE_TRAINING_OPTIMIZER_UPDATE_OP_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/gradient/gradients.h"
#include "ops/state/variable.h"
#include "training/optimizer/optimizer.h"

namespace sluice {

class UpdateOp {
 public:
  UpdateOp(const Optimizer& optimizer, std::string_view rule, const Variable& var,
           const Grad& grad);

  UpdateOp& Slot(const Variable& slot);
  // A hyper-parameter, cast to the variable's type where it is of another.
  UpdateOp& Number(Output value);
  UpdateOp& Number(const Variable& value);
  UpdateOp& Tensor(Output value);  // as it is
  // The gradient; of rows their values and then their indices.
  UpdateOp& Gradient();
  UpdateOp& Attr(std::string_view name, bool value);
  Operation Finish();

 private:
  // A variable of the right type is read under the op's own name.
  struct Input {
    Output tensor;
    Variable variable;
  };
  std::string op_;
  Variable var_;
  Grad grad_;
  std::vector<Input> inputs_;
  std::vector<std::pair<std::string, bool>> attrs_;
};

// An optimizer whose update is one such op for dense gradients and rows alike.
class FusedOptimizer : public Optimizer {
 public:
  using Optimizer::Optimizer;

 protected:
  virtual Operation ApplyFused(const Grad& grad, const Variable& var) = 0;
  Operation ApplyDense(Output grad, const Variable& var) final { return ApplyFused(grad, var); }
  Operation ApplySparse(const IndexedSlices& grad, const Variable& var) final {
    return ApplyFused(grad, var);
  }
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_UPDATE_OP_H_
