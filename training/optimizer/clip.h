// Gradients cut down to a size.
//
//   SLUICE_ASSIGN_OR_RETURN(GradientsAndVariables pairs, optimizer.ComputeGradients(loss));
//   ClipByGlobalNorm(pairs, 5.0f);
//   SLUICE_ASSIGN_OR_RETURN(Operation train, optimizer.ApplyGradients(pairs));
//
// Of rows of a gradient only the rows are looked at; nones stay nones. Errors stay in the graph.
// Reference behaviour: tf.clip_by_value, clip_by_norm, clip_by_global_norm, clip_by_average_norm:
// same nodes and names.
#ifndef SLUICE_TRAINING_OPTIMIZER_CLIP_H_
#define SLUICE_TRAINING_OPTIMIZER_CLIP_H_

#include <string_view>
#include <vector>

#include "ops/builders/operand.h"
#include "ops/reduce/reduce_axes.h"
#include "training/optimizer/optimizer.h"

namespace sluice {

// Each element between `min` and `max`.
Grad ClipByValue(const Grad& grad, const Operand& min, const Operand& max,
                 std::string_view name = "");
// Scaled to the L2 norm `clip_norm` where it is larger: of all elements, or over some axes.
Grad ClipByNorm(const Grad& grad, float clip_norm, const Axes& axes = {},
                std::string_view name = "");
// Scaled so that the L2 norm divided by the number of elements is at most `clip_norm`.
Output ClipByAverageNorm(Output grad, float clip_norm, std::string_view name = "");

// The L2 norm of all gradients together. Invalid where there is none.
Output GlobalNorm(const std::vector<Grad>& grads, std::string_view name = "");

struct ClippedGradients {
  std::vector<Grad> grads;
  Output global_norm;  // before clipping
};
// All scaled by one factor, so that their global norm is at most `clip_norm`; NaN in all where it
// is not finite. `use_norm`: the norm, where it is there already.
ClippedGradients ClipByGlobalNorm(const std::vector<Grad>& grads, const Operand& clip_norm,
                                  Output use_norm = {}, std::string_view name = "");
// The same in place; gives the norm before clipping.
Output ClipByGlobalNorm(GradientsAndVariables& pairs, const Operand& clip_norm);

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_CLIP_H_
