// An optimizer that multiplies the loss by a factor, the scale, so that small gradients of 16-bit
// types do not underflow. It divides the gradients by the same factor before it applies them.
//
//   LossScaleOptimizer optimizer(Momentum({…}), DynamicLossScale());
//   Operation train = optimizer.Minimize(loss);
//
// Thread safety: none, as for Optimizer.
// Ownership: the optimizer owns the one that it wraps. The graph owns the variables.
// Errors: those of the wrapped optimizer. INVALID_ARGUMENT "loss scale must be at least 1" for an
// initial scale below 1. A gradient that is not finite is no error. A dynamic scale skips the step,
// a fixed scale applies it.
// Reference: tf.compat.v1.mixed_precision (fixed and dynamic loss scale).
#ifndef SLUICE_TRAINING_GRADIENT_LOSS_SCALE_H_
#define SLUICE_TRAINING_GRADIENT_LOSS_SCALE_H_

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "training/optimizer/optimizer.h"

namespace sluice {

// A constant factor, at least 1. It must be so small that gradients do not overflow, because steps
// with infinite gradients are applied.
struct FixedLossScale {
  float scale;
};

// A factor that adapts to the gradients. If a gradient is not finite, the step is skipped and the
// factor is divided by `multiplier`, but never goes below 1. After `increment_period` successive
// steps with finite gradients, the factor is multiplied by `multiplier`. Checkpoints contain this
// state: the factor in the variable current_loss_scale, and the number of steps in good_steps.
struct DynamicLossScale {
  // At least 1.
  float initial_loss_scale = 32768;
  // The number of successive steps with finite gradients after which the factor grows.
  int64_t increment_period = 2000;
  // The number by which the factor is multiplied or divided.
  float multiplier = 2;
};

// Computes updates like the optimizer that it wraps. Programs call the inherited Minimize. To clip
// gradients, they call ComputeGradients, which returns gradients that are not scaled, and
// ApplyGradients.
class LossScaleOptimizer : public Optimizer {
 public:
  // Wraps `optimizer`, which is moved. Its name becomes "LossScale<name>".
  template <std::derived_from<Optimizer> O>
  LossScaleOptimizer(O optimizer, FixedLossScale scale)
      : LossScaleOptimizer(std::make_unique<O>(std::move(optimizer)), scale.scale, std::nullopt) {}
  template <std::derived_from<Optimizer> O>
  LossScaleOptimizer(O optimizer, DynamicLossScale scale)
      : LossScaleOptimizer(std::make_unique<O>(std::move(optimizer)), scale.initial_loss_scale,
                           scale) {}

  // The gradients of the unscaled loss. They are not finite if the scale is too large.
  absl::StatusOr<GradientsAndVariables> ComputeGradients(
      Output loss, const ComputeGradientsOptions& options = {}) override;
  // With a dynamic scale: if a gradient is not finite, the op only lowers the scale. Neither
  // variables nor the global step change.
  absl::StatusOr<Operation> ApplyGradients(const GradientsAndVariables& grads_and_vars,
                                           const ApplyGradientsOptions& options = {}) override;

  // The scale of the next step, a float scalar. Each call adds nodes.
  Output Scale(Graph& graph);

  // These return the slots and variables of the wrapped optimizer. Variables() also returns the two
  // variables of a dynamic scale.
  std::optional<Variable> GetSlot(const Variable& var, std::string_view slot_name) const override;
  std::vector<std::string> GetSlotNames() const override;
  std::vector<Variable> Variables() const override;

 protected:
  Operation ApplyDense(Output grad, const Variable& var) override;
  Operation ApplySparse(const IndexedSlices& grad, const Variable& var) override;

 private:
  LossScaleOptimizer(std::unique_ptr<Optimizer> optimizer, float scale,
                     std::optional<DynamicLossScale> dynamic);
  void MakeVariables(Graph& graph);
  Operation UpdateScale(Graph& graph, Output is_finite);

  std::unique_ptr<Optimizer> optimizer_;
  float scale_;
  std::optional<DynamicLossScale> dynamic_;
  Variable current_scale_, good_steps_;  // invalid for a fixed scale
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_GRADIENT_LOSS_SCALE_H_
