// The first values of tf.initializers that ops/random/initializer.h lacks.
//
//   Variable w(g, "w", {64, 64}, Orthogonal());
#ifndef SLUICE_TRAINING_LAYERS_INITIALIZERS_H_
#define SLUICE_TRAINING_LAYERS_INITIALIZERS_H_

#include "ops/random/initializer.h"

namespace sluice {

// Variance 1 / inputs (LeCun et al., 1998).
Initializer LecunUniform(Seed seed = {});
Initializer LecunNormal(Seed seed = {});
// In [-1, 1] * factor * sqrt(3 / inputs): keeps the scale of a layer's input. Reference behaviour:
// tf.uniform_unit_scaling_initializer.
Initializer UniformUnitScaling(double factor = 1.0, Seed seed = {});
// `gain` on the diagonal of a matrix, 0 elsewhere; of other ranks INVALID_ARGUMENT.
Initializer IdentityInit(double gain = 1.0);
// A random matrix with orthonormal rows or columns, times `gain` (Saxe et al., 2013); of more
// dimensions, all but the last are rows; of fewer than two INVALID_ARGUMENT. Reference behaviour:
// tf.orthogonal_initializer, whose numbers are these but for the signs of columns and rounding.
Initializer Orthogonal(double gain = 1.0, Seed seed = {});

}  // namespace sluice

#endif  // SLUICE_TRAINING_LAYERS_INITIALIZERS_H_
