// Declares the ops of all update rules.
#include "ops/update/rules.h"

#include "ops/op.h"

namespace sluice {
namespace {

PartialShape SlotShape(ShapeContext& c, int i) {
  if (c.input_type(i) != DT_RESOURCE) return c.input(i);
  const HandleData* handle = c.InputHandle(i);
  return handle == nullptr ? PartialShape::UnknownRank() : handle->shape;
}

// Returns the shape of a sparse gradient of a variable of shape `var`, which has one row per index.
absl::StatusOr<PartialShape> RowsShape(ShapeContext& c, int indices, const PartialShape& var) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape vector, c.WithRank(indices, 1));
  if (!var.rank_known()) return PartialShape::UnknownRank();
  SLUICE_INVALID_IF(var.rank() < 1, "Shape must be at least rank 1 but is rank 0");
  return PartialShape(vector).Concatenate(PartialShape(var.dims().subspan(1)));
}

// Shape function of updates. The variable, its slots, a dense gradient and the output have the same
// shape.
absl::Status UpdateShape(ShapeContext& c) {
  const OpDef& def = c.node().def();
  const int indices = def.InputIndex("indices");
  PartialShape var = SlotShape(c, 0);
  int grad = -1;
  for (int i = 1; i < c.num_inputs(); ++i) {
    const ArgDef& arg = def.inputs[i];
    if (arg.is_ref || arg.type == DT_RESOURCE) {
      SLUICE_ASSIGN_OR_RETURN(var, var.MergeWith(SlotShape(c, i)));
    } else if (IsGradientName(arg.name)) {
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

// Returns the rule's own text for its first op, and texts that refer to the first op for the
// others.
std::string DocOf(const UpdateRule& rule, UpdateForm form) {
  const bool is_first = !form.is_sparse && form.is_resource != rule.has_ref;
  if (is_first) return std::string(rule.doc);
  return StrCat(rule.OpName({.is_resource = !rule.has_ref, .is_sparse = false}),
                form.is_resource && rule.has_ref ? " for the variable behind a handle" : "",
                form.is_sparse ? " on the rows `indices` only. An index may repeat." : ".");
}

void AddInput(const UpdateInput& input, UpdateForm form, OpDefBuilder& op) {
  if (input.is_gradient() && form.is_sparse) {
    op.Input("grad", "T").Input("indices", "Tindices");
  } else if (input.type != DT_INVALID) {
    op.Input(std::string(input.name), input.type);
  } else {
    op.Input(std::string(input.name), "T");
  }
}

OpDefBuilder OpOf(const UpdateRule& rule, UpdateForm form) {
  OpDefBuilder op(rule.OpName(form), DocOf(rule, form));
  const auto add_variable = [&](std::string_view name) {
    if (form.is_resource) op.Input(std::string(name), DT_RESOURCE);
    if (!form.is_resource) op.RefInput(std::string(name), "T");
  };
  add_variable("var");
  for (int i = 0; i < rule.num_slots(); ++i) add_variable(rule.slots[i].name);
  for (int i = 0; i < rule.num_inputs(); ++i) {
    AddInput(rule.inputs[i], form, op);
  }
  if (!form.is_resource) op.RefOutput("out", "T");
  op.Attr("T", TypeAttr(NumberTypes()));
  if (form.is_sparse) op.Attr("Tindices", TypeAttr(IndexTypes()));
  op.Attr("use_locking", BoolAttr(false));
  if (!rule.flag.empty()) op.Attr(std::string(rule.flag), BoolAttr(rule.flag_default));
  if (form.is_resource) op.Stateful();
  return op.Shape(UpdateShape);
}

absl::Status TableUpdateShape(ShapeContext& c) {
  const OpDef& def = c.node().def();
  for (int i = 1; i < c.num_inputs(); ++i) {
    const std::string& name = def.inputs[i].name;
    const int rank = IsGradientName(name) ? 2 : name == "keys" ? 1 : 0;
    SLUICE_RETURN_IF_ERROR(c.WithRank(i, rank).status());
  }
  const int keys = def.InputIndex("keys");
  return MergeDim(c.input(keys).dim(0), c.input(keys - 1).dim(0)).status();
}

// Returns the definition of the op that updates rows of an embedding table.
OpDefBuilder TableOpOf(const UpdateRule& rule) {
  const UpdateForm dense = {.is_resource = !rule.has_ref, .is_sparse = false};
  const std::string what =
      rule.is_for_tables_only ? StrCat(rule.doc, " It is done") : rule.OpName(dense);
  OpDefBuilder op(rule.TableOpName(),
                  StrCat(what,
                         " for the rows of `keys` in an embedding table, whose records have the "
                         "slots. Updates of equal keys are done one after the other. `step` is the "
                         "global step; -1 counts the updates of the table instead."));
  op.Input("table", DT_RESOURCE);
  for (int i = 0; i < rule.num_inputs(); ++i) {
    const UpdateInput& input = rule.inputs[i];
    if (input.is_gradient()) {
      op.Input("grad", "T").Input("keys", DT_INT64);
    } else {
      AddInput(input, dense, op);
    }
  }
  op.Input("step", DT_INT64);
  op.Attr("T", TypeAttr({DT_HALF, DT_BFLOAT16, DT_FLOAT}));
  if (!rule.flag.empty()) op.Attr(std::string(rule.flag), BoolAttr(rule.flag_default));
  return op.Stateful().Shape(TableUpdateShape);
}

template <typename... Rules>
bool RegisterOps(const Rules&... rules) {
  for (const UpdateRule* rule : {&rules...}) {
    rule->ForEachForm([&](UpdateForm form) { const OpRegistrar registers(OpOf(*rule, form)); });
    const OpRegistrar registers(TableOpOf(*rule));
  }
  return true;
}
const bool kRegistered =
    RegisterOps(kGradientDescent, kProximalGradientDescent, kMomentum, kKerasMomentum, kAdagrad,
                kAdagradV2, kAdagradDA, kProximalAdagrad, kAdadelta, kAdam, kAdamWithAmsgrad,
                kAdaMax, kRMSProp, kCenteredRMSProp, kFtrl, kFtrlV2, kAddSign, kPowerSign, kAdamW,
                kLamb, kAdamAsync, kAdagradDecay, kGroupFtrl, kGroupAdam);

}  // namespace
}  // namespace sluice
