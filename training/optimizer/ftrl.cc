#include "training/optimizer/ftrl.h"

#include <fmt/format.h>

#include "graph/status.h"
#include "ops/builders/ops.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

// As Python formats %f.
std::string Text(double value) { return fmt::format("{:f}", value); }

absl::Status CheckAtLeastZero(std::string_view what, double value) {
  if (value >= 0) return absl::OkStatus();
  return InvalidArgument(what, " ", Text(value), " needs to be positive or zero");
}

}  // namespace

Ftrl::Ftrl(FtrlOptions options)
    : FusedOptimizer(options.name, options.use_locking), options_(std::move(options)) {
  SetInvalid(CheckAtLeastZero("initial_accumulator_value", options_.initial_accumulator_value));
  if (options_.learning_rate_power > 0) {
    SetInvalid(InvalidArgument("learning_rate_power ", Text(options_.learning_rate_power),
                               " needs to be negative or zero"));
  }
  SetInvalid(CheckAtLeastZero("l1_regularization_strength", options_.l1_regularization_strength));
  SetInvalid(CheckAtLeastZero("l2_regularization_strength", options_.l2_regularization_strength));
  SetInvalid(CheckAtLeastZero("l2_shrinkage_regularization_strength",
                              options_.l2_shrinkage_regularization_strength));
}

void Ftrl::CreateSlots(const std::vector<Variable>& vars) {
  auto scaled_ones = [this](Graph& g, const TensorShape& shape, DataType dtype) {
    return Ones(g, shape, dtype) * options_.initial_accumulator_value;
  };
  for (const Variable& var : vars) {
    SlotWithInitializer(var, scaled_ones, "accum",
                        options_.accum_name.empty() ? name() : options_.accum_name);
    ZerosSlot(var, "linear", options_.linear_name.empty() ? name() : options_.linear_name);
  }
}

void Ftrl::Prepare(Graph& graph) {
  learning_rate_ = options_.learning_rate.In(graph, "learning_rate");
  l1_ = Constant(graph, options_.l1_regularization_strength, "l1_regularization_strength");
  // beta becomes a part of the penalty, so that the op need not know it: l2 + beta / (2 rate).
  Output rate;
  {
    NameScope scope(graph, "Maximum");
    const Output x =
        options_.learning_rate.constant() ? options_.learning_rate.In(graph, "x") : learning_rate_;
    const Output y = Constant(graph, 1e-36, x.dtype(), "y");
    rate = Maximum(x, y, {.name = scope.prefix()});
  }
  const Output doubled = 2 * rate;
  const Output beta = options_.beta / doubled;
  l2_ = options_.l2_regularization_strength + beta;
  Constant(graph, options_.beta, "beta");
  l2_shrinkage_ = Constant(graph, options_.l2_shrinkage_regularization_strength,
                           "l2_shrinkage_regularization_strength");
  learning_rate_power_ = Constant(graph, options_.learning_rate_power, "learning_rate_power");
}

Operation Ftrl::ApplyFused(const Grad& grad, const Variable& var) {
  const bool shrinks = options_.l2_shrinkage_regularization_strength > 0;
  UpdateOp update(*this, shrinks ? "FtrlV2" : "Ftrl", var, grad);
  update.Slot(Slot(var, "accum")).Slot(Slot(var, "linear")).Gradient();
  update.Number(learning_rate_).Number(l1_).Number(l2_);
  if (shrinks) update.Number(l2_shrinkage_);
  return update.Number(learning_rate_power_).Finish();
}

}  // namespace sluice
