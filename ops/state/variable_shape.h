// Finds the shapes of resource variables, for shape functions.
#ifndef SLUICE_OPS_STATE_VARIABLE_SHAPE_H_
#define SLUICE_OPS_STATE_VARIABLE_SHAPE_H_

#include "graph/infer/shape_context.h"
#include "graph/status.h"

namespace sluice {

// The known part of the shape of the variable whose handle is input `i`. The rank is unknown if
// nothing is known about the variable. INVALID_ARGUMENT with TensorFlow's text if the variable's
// type is known and is not `dtype`.
inline absl::StatusOr<PartialShape> VariableShapeOf(const ShapeContext& c, int i, DataType dtype) {
  const HandleData* handle = c.InputHandle(i);
  if (handle == nullptr) return PartialShape::UnknownRank();
  SLUICE_INVALID_IF(handle->dtype != DT_INVALID && handle->dtype != dtype,
                    "Trying to read variable with wrong dtype. Expected ",
                    DataTypeName(handle->dtype), " got ", DataTypeName(dtype));
  return handle->shape;
}

}  // namespace sluice

#endif  // SLUICE_OPS_STATE_VARIABLE_SHAPE_H_
