// The shape function of all Apply ops.
#ifndef SLUICE_OPS_UPDATE_UPDATE_SHAPE_H_
#define SLUICE_OPS_UPDATE_UPDATE_SHAPE_H_

#include "graph/infer/shape_context.h"

namespace sluice {

// Variable, slots and gradient have one shape, which is that of the output where there is one;
// hyper-parameters are scalars. With an input "indices", a vector, the gradient has rows for these.
absl::Status UpdateShape(ShapeContext& c);

}  // namespace sluice

#endif  // SLUICE_OPS_UPDATE_UPDATE_SHAPE_H_
