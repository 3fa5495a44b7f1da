// Further initializers of tf.initializers, which compute the first values of variables.
// ops/random/initializer.h has the most common ones.
//
//   Variable w(g, "w", {64, 64}, Orthogonal());
//
// Thread safety: an initializer is a value; it adds nodes to one graph at a time.
// Errors: stay in the graph.
#ifndef SLUICE_TRAINING_LAYERS_INITIALIZERS_H_
#define SLUICE_TRAINING_LAYERS_INITIALIZERS_H_

#include "ops/random/initializer.h"

namespace sluice {

// Draw from a uniform and from a truncated normal distribution (LeCun et al. 1998). Both have mean
// 0 and variance 1 / inputs, where `inputs` is the number of inputs of a unit.
Initializer LecunUniform(Seed seed = {});
Initializer LecunNormal(Seed seed = {});
// Draws from the uniform distribution over [-1, 1] * factor * sqrt(3 / inputs), with which a
// layer's output has about the scale of its input. Reference: tf.uniform_unit_scaling_initializer.
Initializer UniformUnitScaling(double factor = 1.0, Seed seed = {});
// Gives a matrix with `gain` on its diagonal and 0 elsewhere. INVALID_ARGUMENT unless the rank is
// 2.
Initializer IdentityInit(double gain = 1.0);
// Gives a random matrix with orthonormal rows or columns, times `gain` (Saxe et al. 2013). All
// dimensions except the last count as one dimension, the rows. INVALID_ARGUMENT if the rank is
// below 2. Reference: tf.orthogonal_initializer, with the same numbers except for signs of columns
// and rounding.
Initializer Orthogonal(double gain = 1.0, Seed seed = {});

}  // namespace sluice

#endif  // SLUICE_TRAINING_LAYERS_INITIALIZERS_H_
