// Clips gradients by value and by norm.
//
//   SLUICE_ASSIGN_OR_RETURN(GradientsAndVariables pairs, optimizer.ComputeGradients(loss));
//   ClipByGlobalNorm(pairs, 5.0f);
//   SLUICE_ASSIGN_OR_RETURN(Operation train, optimizer.ApplyGradients(pairs));
//
// Clipping a sparse gradient clips its values. A gradient that is none, because the loss does not
// depend on the variable, stays none. An empty `name` stands for TensorFlow's default.
//
// Thread safety: that of the graph, which one thread at a time builds.
// Ownership: the graph owns the added nodes.
// Errors: stay in the graph; the results are then invalid.
// Reference: tf.clip_by_value, clip_by_norm, clip_by_global_norm, clip_by_average_norm. Nodes and
// names are the same.
#ifndef SLUICE_TRAINING_GRADIENT_CLIP_H_
#define SLUICE_TRAINING_GRADIENT_CLIP_H_

#include <string_view>
#include <vector>

#include "ops/builders/operand.h"
#include "ops/reduce/reduce_axes.h"
#include "training/optimizer/optimizer.h"

namespace sluice {

// Clips each element to [min, max].
Grad ClipByValue(const Grad& grad, const Operand& min, const Operand& max,
                 std::string_view name = "");
// Scales the gradient so that its L2 norm, of all elements or over `axes`, is at most `clip_norm`.
Grad ClipByNorm(const Grad& grad, float clip_norm, const Axes& axes = {},
                std::string_view name = "");
// Scales the gradient so that its L2 norm, divided by its number of elements, is at most
// `clip_norm`.
Output ClipByAverageNorm(Output grad, float clip_norm, std::string_view name = "");

// The L2 norm of all gradients together. Invalid if all gradients are none.
Output GlobalNorm(const std::vector<Grad>& grads, std::string_view name = "");

struct ClippedGradients {
  std::vector<Grad> grads;
  // The norm before clipping. Invalid if all gradients are none.
  Output global_norm;
};
// Scales all gradients by one factor so that their global norm is at most `clip_norm`. If the norm
// is not finite, all elements become NaN. `use_norm` is the global norm if the caller has computed
// it already. Invalid: it is computed here.
ClippedGradients ClipByGlobalNorm(const std::vector<Grad>& grads, const Operand& clip_norm,
                                  Output use_norm = {}, std::string_view name = "");
// Like ClipByGlobalNorm above, but replaces the gradients in `pairs`. Returns the norm before
// clipping.
Output ClipByGlobalNorm(GradientsAndVariables& pairs, const Operand& clip_norm);

}  // namespace sluice

#endif  // SLUICE_TRAINING_GRADIENT_CLIP_H_
