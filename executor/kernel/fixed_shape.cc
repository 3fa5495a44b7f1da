#include "executor/kernel/fixed_shape.h"

#include "graph/status.h"

namespace sluice {

absl::StatusOr<TensorShape> FixedShape(const PartialShape& declared) {
  SLUICE_INVALID_IF(declared.rank_known() && !declared.IsFullyDefined(), "Shape ",
                    declared.ToString(), " is not fully defined");
  return TensorShape::Make(declared.dims());
}

absl::StatusOr<std::vector<TensorShape>> FixedShapes(const std::vector<PartialShape>& declared) {
  std::vector<TensorShape> shapes;
  for (const PartialShape& shape : declared) {
    SLUICE_ASSIGN_OR_RETURN(shapes.emplace_back(), FixedShape(shape));
  }
  return shapes;
}

}  // namespace sluice
