#include "training/gradient/loss_scale.h"

#include "graph/build/cond.h"
#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/control/no_op_builders.h"
#include "ops/math/arithmetic_builders.h"
#include "ops/math/compare_builders.h"
#include "ops/math/rounding_builders.h"
#include "ops/math/select_builders.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

Output Multiply(Output values, Output factor) {
  return values * CastTo(factor, BaseType(values.dtype()));
}

Output AllFinite(Graph& graph, const GradientsAndVariables& pairs) {
  NameScope scope(graph, "all_finite");
  OutputList finite;
  for (const GradientAndVariable& pair : pairs) {
    if (!pair.grad.is_none()) finite.push_back(ReduceAll(IsFinite(ValuesOf(pair.grad))));
  }
  return ReduceAll(Stack(finite));
}

}  // namespace

LossScaleOptimizer::LossScaleOptimizer(std::unique_ptr<Optimizer> optimizer, float scale,
                                       std::optional<DynamicLossScale> dynamic)
    : Optimizer(StrCat("LossScale", optimizer->name()), optimizer->use_locking()),
      optimizer_(std::move(optimizer)),
      scale_(scale),
      dynamic_(dynamic) {
  if (scale_ < 1) SetInvalid(InvalidArgument("loss scale must be at least 1, but got: ", scale_));
}

Output LossScaleOptimizer::Scale(Graph& graph) {
  if (!dynamic_) return Constant(graph, scale_, "loss_scale");
  MakeVariables(graph);
  return current_scale_ ? current_scale_.Read() : Output();
}

void LossScaleOptimizer::MakeVariables(Graph& graph) {
  if (current_scale_) return;
  InitScope init(graph);
  NameScope root(graph, "");
  current_scale_ = Variable(graph, "current_loss_scale", scale_, {.trainable = false});
  good_steps_ = Variable(graph, "good_steps", int64_t{0}, {.trainable = false});
}

absl::StatusOr<GradientsAndVariables> LossScaleOptimizer::ComputeGradients(
    Output loss, const ComputeGradientsOptions& options) {
  SLUICE_RETURN_IF_ERROR(invalid());
  SLUICE_INVALID_IF(!loss || loss.index < 0 || loss.index >= loss.node->num_outputs(),
                    "the loss is not a tensor of a valid graph");
  Graph& graph = *loss.graph();
  const Output scale = Scale(graph);
  SLUICE_ASSIGN_OR_RETURN(GradientsAndVariables pairs,
                          optimizer_->ComputeGradients(Multiply(loss, scale), options));
  NameScope scope(graph, "unscale_gradients");
  const Output inverse = 1 / scale;
  for (GradientAndVariable& pair : pairs) {
    if (pair.grad.is_none()) continue;
    pair.grad = WithValues(pair.grad, Multiply(ValuesOf(pair.grad), inverse));
  }
  SLUICE_RETURN_IF_ERROR(graph.status());
  return pairs;
}

absl::StatusOr<Operation> LossScaleOptimizer::ApplyGradients(
    const GradientsAndVariables& grads_and_vars, const ApplyGradientsOptions& options) {
  SLUICE_RETURN_IF_ERROR(invalid());
  bool has_gradient = false;
  for (const GradientAndVariable& pair : grads_and_vars) has_gradient |= !pair.grad.is_none();
  if (!dynamic_ || !has_gradient) return optimizer_->ApplyGradients(grads_and_vars, options);
  Graph& graph = grads_and_vars[0].var.graph();
  MakeVariables(graph);
  const Output is_finite = AllFinite(graph, grads_and_vars);
  auto apply = [&]() -> BranchResult {
    absl::StatusOr<Operation> train = optimizer_->ApplyGradients(grads_and_vars, options);
    if (train.ok()) return *train;
    graph.SetError(train.status());
    return NoOp(graph);
  };
  const OutputList applied = Cond(
      is_finite, apply, [&] { return BranchResult(NoOp(graph)); }, "apply_if_finite");
  SLUICE_RETURN_IF_ERROR(graph.status());
  const Operation all = Group(graph, {applied[0], UpdateScale(graph, is_finite)}, name());
  SLUICE_RETURN_IF_ERROR(graph.status());
  return all;
}

Operation LossScaleOptimizer::UpdateScale(Graph& graph, Output is_finite) {
  NameScope scope(graph, "update_loss_scale");
  const Output scale = current_scale_.Read();
  const Output steps = good_steps_.Read() + 1;
  const Output grown = scale * dynamic_->multiplier;
  const Output is_due = GreaterEqual(steps, Constant(graph, dynamic_->increment_period));
  const Output grows = LogicalAnd(is_due, IsFinite(grown));
  const Output lower = Maximum(scale / dynamic_->multiplier, Constant(graph, 1.0f));
  const Output zero = Constant(graph, int64_t{0});
  const Output next_scale = SelectV2(is_finite, SelectV2(grows, grown, scale), lower);
  const Output next_steps = SelectV2(LogicalAnd(is_finite, LogicalNot(is_due)), steps, zero);
  // Reads both values before either is assigned.
  ControlDependencies after(graph, {next_scale, next_steps});
  return Group(graph, {current_scale_.Assign(next_scale), good_steps_.Assign(next_steps)});
}

std::optional<Variable> LossScaleOptimizer::GetSlot(const Variable& var,
                                                    std::string_view slot_name) const {
  return optimizer_->GetSlot(var, slot_name);
}
std::vector<std::string> LossScaleOptimizer::GetSlotNames() const {
  return optimizer_->GetSlotNames();
}
std::vector<Variable> LossScaleOptimizer::Variables() const {
  std::vector<Variable> all = optimizer_->Variables();
  if (current_scale_) all.insert(all.end(), {current_scale_, good_steps_});
  return all;
}

Operation LossScaleOptimizer::ApplyDense(Output, const Variable&) { return {}; }
Operation LossScaleOptimizer::ApplySparse(const IndexedSlices&, const Variable&) { return {}; }

}  // namespace sluice
