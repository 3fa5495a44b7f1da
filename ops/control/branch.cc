// Ops that choose between branches. Switch marks the values of the branch that is not taken as
// dead, and Merge outputs an input that is not dead.

#ifndef SLUICE_DEFINITIONS_ONLY
#include "graph/gradient/cond_gradient.h"
#endif
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status SwitchShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  if (const HandleData* handle = c.InputHandle(0)) {
    c.SetOutputHandle(0, *handle);
    c.SetOutputHandle(1, *handle);
  }
  return c.SetOutputs(c.input(0));
}

// Any input may become the output, so only what is equal in all inputs is known.
absl::Status MergeShape(ShapeContext& c) {
  PartialShape merged = c.input(0);
  for (int i = 1; i < c.num_inputs() && merged.rank_known(); ++i) {
    const PartialShape& other = c.input(i);
    if (other.rank() != merged.rank()) {
      merged = PartialShape::UnknownRank();
      break;
    }
    for (int d = 0; d < merged.rank(); ++d) {
      if (merged.dim(d) != other.dim(d)) merged.set_dim(d, PartialShape::kUnknown);
    }
  }
  if (const HandleData* handle = c.InputHandle(0)) c.SetOutputHandle(0, *handle);
  SLUICE_RETURN_IF_ERROR(c.SetOutput(0, std::move(merged)));
  return c.SetOutput(1, PartialShape::Scalar());
}

OP(Merge,
   "Passes on the first of `inputs` that arrives alive, and ignores the others. Returns its "
   "position as `value_index`. The outputs are dead if all inputs are.")
    .Input("inputs", "N*T")
    .Output("output", "T")
    .Output("value_index", DT_INT32)
    .Attr("T", TypeAttr())
    .Attr("N", IntAttr().Min(1))
    .Role(OpRole::kMerge)
    .Shape(MergeShape) GRADIENT(MergeGradient);

OP(RefMerge, "Merge of references to variables.")
    .RefInput("inputs", "N*T")
    .RefOutput("output", "T")
    .Output("value_index", DT_INT32)
    .Attr("T", TypeAttr())
    .Attr("N", IntAttr().Min(1))
    .Role(OpRole::kMerge)
    .Shape(MergeShape) GRADIENT(MergeGradient);

OP(RefSwitch, "Switch of a reference to a variable.")
    .RefInput("data", "T")
    .Input("pred", DT_BOOL)
    .RefOutput("output_false", "T")
    .RefOutput("output_true", "T")
    .Attr("T", TypeAttr())
    .AllowsUninitializedInput()
    .Role(OpRole::kSwitch)
    .Shape(SwitchShape) GRADIENT(SwitchGradient);

OP(Switch,
   "Passes `data` to `output_true` if the scalar `pred` is true, else to `output_false`. The other "
   "output is dead, and so are the nodes that need it, up to a Merge.")
    .Input("data", "T")
    .Input("pred", DT_BOOL)
    .Output("output_false", "T")
    .Output("output_true", "T")
    .Attr("T", TypeAttr())
    .Role(OpRole::kSwitch)
    .Shape(SwitchShape) GRADIENT(SwitchGradient);

}  // namespace
}  // namespace sluice
