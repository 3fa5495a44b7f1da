#include "ops/update/update_shape.h"

namespace sluice {
namespace {

PartialShape SlotShape(ShapeContext& c, int i) {
  if (c.input_type(i) != DT_RESOURCE) return c.input(i);
  const HandleData* handle = c.InputHandle(i);
  return handle == nullptr ? PartialShape::UnknownRank() : handle->shape;
}

bool IsGradient(std::string_view name) { return name == "grad" || name == "delta"; }

// Rows of a tensor of shape `var`, one an index.
absl::StatusOr<PartialShape> RowsShape(ShapeContext& c, int indices, const PartialShape& var) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape vector, c.WithRank(indices, 1));
  if (!var.rank_known()) return PartialShape::UnknownRank();
  if (var.rank() < 1) return InvalidArgument("Shape must be at least rank 1 but is rank 0");
  return PartialShape(vector).Concatenate(PartialShape(var.dims().subspan(1)));
}

}  // namespace

absl::Status UpdateShape(ShapeContext& c) {
  const OpDef& def = c.node().def();
  const int indices = def.InputIndex("indices");
  PartialShape var = SlotShape(c, 0);
  int grad = -1;
  for (int i = 1; i < c.num_inputs(); ++i) {
    const ArgDef& arg = def.inputs[i];
    if (arg.is_ref || arg.type == DT_RESOURCE) {
      SLUICE_ASSIGN_OR_RETURN(var, var.MergeWith(SlotShape(c, i)));
    } else if (IsGradient(arg.name)) {
      grad = i;
    } else if (i != indices) {
      SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
    }
  }
  if (indices < 0) {
    SLUICE_ASSIGN_OR_RETURN(var, var.MergeWith(c.input(grad)));
  } else {
    SLUICE_ASSIGN_OR_RETURN(const PartialShape rows, RowsShape(c, indices, var));
    SLUICE_RETURN_IF_ERROR(rows.MergeWith(c.input(grad)).status());
  }
  return c.num_outputs() > 0 ? c.SetOutput(0, std::move(var)) : absl::OkStatus();
}

}  // namespace sluice
