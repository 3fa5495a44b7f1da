// Small ops that functions and what becomes of them use.

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

OP(_ArrayToList, "The tensors of `input`, whose types the caller knows one by one.")
    .Input("input", "N*T")
    .Output("output", "out_types")
    .Attr("T", TypeAttr())
    .Attr("N", IntAttr().Min(1))
    .Attr("out_types", TypeListAttr().Min(1))
    .Hidden()
    .Shape(PassEach);

OP(_ListToArray, "The tensors of `input`, all of one type.")
    .Input("input", "Tin")
    .Output("output", "N*T")
    .Attr("Tin", TypeListAttr().Min(1))
    .Attr("T", TypeAttr())
    .Attr("N", IntAttr().Min(1))
    .Hidden()
    .Shape(PassEach);

OP(_SwitchN,
   "Passes `data` to output number `output_index`, the last one if there is none of that"
   " number; the others are dead.")
    .Input("data", "T")
    .Input("output_index", DT_INT32)
    .Output("outputs", "num_outs*T")
    .Attr("num_outs", IntAttr().Min(1))
    .Attr("T", TypeAttr())
    .Hidden()
    .Shape(SwitchNShape);

OP(DeviceIndex,
   "The position of this device's type in `device_names`; their number if it is not there.")
    .Output("index", DT_INT32)
    .Attr("device_names", StringListAttr())
    .Stateful()
    .Shape(ScalarOutput());

OP(FakeParam, "Stands for a value that nobody reads: zeros of the shape, 0 for unknown sizes.")
    .Output("output", "dtype")
    .Attr("dtype", TypeAttr())
    .Attr("shape", ShapeAttr())
    .Shape(FakeParamShape);

OP(ToBool,
   "Whether a scalar is not zero, or a string not empty; of other tensors, whether they"
   " have elements.")
    .Input("input", "T")
    .Output("output", DT_BOOL)
    .Attr("T", TypeAttr())
    .Shape(ScalarOutput());

}  // namespace
}  // namespace sluice
