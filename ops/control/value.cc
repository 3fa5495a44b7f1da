// Ops that appear in the bodies of functions, and in graphs in which functions were replaced by
// Switch and Merge.
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status PassEach(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs() && i < c.num_inputs(); ++i) {
    SLUICE_RETURN_IF_ERROR(c.SetOutput(i, c.input(i)));
  }
  return absl::OkStatus();
}

absl::Status SwitchNShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  return c.SetOutputs(c.input(0));
}

absl::Status FakeParamShape(ShapeContext& c) {
  return c.SetOutput(0, c.attr<PartialShape>("shape"));
}

OP(_ArrayToList, "Returns the tensors of `input` as a list of types.")
    .Input("input", "N*T")
    .Output("output", "out_types")
    .Attr("T", TypeAttr())
    .Attr("N", IntAttr().Min(1))
    .Attr("out_types", TypeListAttr().Min(1))
    .Hidden()
    .Shape(PassEach);

OP(_ListToArray, "Returns the tensors of `input`, which all have type T.")
    .Input("input", "Tin")
    .Output("output", "N*T")
    .Attr("Tin", TypeListAttr().Min(1))
    .Attr("T", TypeAttr())
    .Attr("N", IntAttr().Min(1))
    .Hidden()
    .Shape(PassEach);

OP(_SwitchN,
   "Passes `data` to output number `output_index`, or to the last one if the number is out of "
   "range. The other outputs are dead.")
    .Input("data", "T")
    .Input("output_index", DT_INT32)
    .Output("outputs", "num_outs*T")
    .Attr("num_outs", IntAttr().Min(1))
    .Attr("T", TypeAttr())
    .Hidden()
    .Role(OpRole::kSwitch)
    .Shape(SwitchNShape);

OP(DeviceIndex,
   "Returns the position of this device's type in `device_names`, or their number if it is "
   "missing.")
    .Output("index", DT_INT32)
    .Attr("device_names", StringListAttr())
    .Stateful()
    .Repeatable()
    .Shape(ScalarOutput());

OP(FakeParam,
   "Returns a value that no node reads: zeros of the given shape, in which unknown sizes are 0.")
    .Output("output", "dtype")
    .Attr("dtype", TypeAttr())
    .Attr("shape", ShapeAttr())
    .Impure(Impurity::kPlaceholder)
    .Shape(FakeParamShape);

OP(ToBool,
   "Returns whether a scalar is not zero, a scalar string is not empty, or another tensor has "
   "elements.")
    .Input("input", "T")
    .Output("output", DT_BOOL)
    .Attr("T", TypeAttr())
    .Shape(ScalarOutput());

}  // namespace
}  // namespace sluice
