// Reads shape attributes for kernels that must know every size, such as those of variables.
//
// Reference: TensorFlow's GetAttr of a TensorShape, which reads the shape of variables, queues,
// barriers and tables.
#ifndef SLUICE_EXECUTOR_KERNEL_FIXED_SHAPE_H_
#define SLUICE_EXECUTOR_KERNEL_FIXED_SHAPE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/shape.h"

namespace sluice {

// Returns the shape that `declared` stands for. An unknown rank stands for a scalar.
// INVALID_ARGUMENT if the rank is known and a size is not.
absl::StatusOr<TensorShape> FixedShape(const PartialShape& declared);
absl::StatusOr<std::vector<TensorShape>> FixedShapes(const std::vector<PartialShape>& declared);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_KERNEL_FIXED_SHAPE_H_
