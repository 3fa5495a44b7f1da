#include "training/optimizer/sign.h"

#include <cmath>

#include "graph/build/scopes.h"
#include "ops/builders/ops.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

// The rows of the running mean after this gradient, and the op that stores them.
struct NextMean {
  Output rows;
  Operation stored;
};
NextMean Follow(const Variable& mean, const IndexedSlices& grad, Output beta, bool use_locking) {
  const Output rest = 1 - beta;
  const Output rows = Gather(mean, grad.indices) * beta + grad.values * rest;
  return {rows, mean.ScatterUpdate(grad.indices, rows, {.use_locking = use_locking})};
}

// sign_decay * sign(gradient) * sign(mean)
Output Agreement(Output sign_decay, Output grad, Output mean) {
  return sign_decay * Sign(grad) * Sign(mean);
}

}  // namespace

PowerSign::PowerSign(PowerSignOptions options)
    : Optimizer(options.name, options.use_locking), options_(std::move(options)) {}

void PowerSign::CreateSlots(const std::vector<Variable>& vars) {
  for (const Variable& var : vars) ZerosSlot(var, "m", name());
}

void PowerSign::Prepare(Graph& graph) {
  learning_rate_ = options_.learning_rate.In(graph, "learning_rate");
  beta_ = options_.beta.In(graph, "beta");
  logbase_ = Constant(graph, static_cast<float>(std::log(options_.base)), "logbase");
  sign_decay_ = options_.sign_decay.In(graph, "sign_decay");
}

Operation PowerSign::ApplyDense(Output grad, const Variable& var) {
  return UpdateOp(*this, "PowerSign", var, grad)
      .Slot(Slot(var, "m"))
      .Number(learning_rate_)
      .Number(logbase_)
      .Number(sign_decay_)
      .Number(beta_)
      .Gradient()
      .Finish();
}

Operation PowerSign::ApplySparse(const IndexedSlices& grad, const Variable& var) {
  const NextMean next = Follow(Slot(var, "m"), grad, CastTo(beta_, var), use_locking());
  const Output agreement = Agreement(CastTo(sign_decay_, var), grad.values, next.rows);
  const Output factor = Exp(CastTo(logbase_, var) * agreement);
  const Output step = CastTo(learning_rate_, var) * factor * grad.values;
  return Group(var.graph(),
               {next.stored, var.ScatterSub(grad.indices, step, {.use_locking = use_locking()})});
}

AddSign::AddSign(AddSignOptions options)
    : Optimizer(options.name, options.use_locking), options_(std::move(options)) {}

void AddSign::CreateSlots(const std::vector<Variable>& vars) {
  for (const Variable& var : vars) ZerosSlot(var, "m", name());
}

void AddSign::Prepare(Graph& graph) {
  learning_rate_ = options_.learning_rate.In(graph, "learning_rate");
  beta_ = options_.beta.In(graph, "beta");
  alpha_ = options_.alpha.In(graph, "alpha");
  sign_decay_ = options_.sign_decay.In(graph, "sign_decay");
}

Operation AddSign::ApplyDense(Output grad, const Variable& var) {
  return UpdateOp(*this, "AddSign", var, grad)
      .Slot(Slot(var, "m"))
      .Number(learning_rate_)
      .Number(alpha_)
      .Number(sign_decay_)
      .Number(beta_)
      .Gradient()
      .Finish();
}

Operation AddSign::ApplySparse(const IndexedSlices& grad, const Variable& var) {
  const NextMean next = Follow(Slot(var, "m"), grad, CastTo(beta_, var), use_locking());
  const Output agreement = Agreement(CastTo(sign_decay_, var), grad.values, next.rows);
  const Output factor = CastTo(alpha_, var) + agreement;
  const Output step = CastTo(learning_rate_, var) * factor * grad.values;
  return Group(var.graph(),
               {next.stored, var.ScatterSub(grad.indices, step, {.use_locking = use_locking()})});
}

}  // namespace sluice
