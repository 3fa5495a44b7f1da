// Ops for tensors that stay in the session between steps. A step returns a handle, which can be fed
// to later steps.
#include "ops/op.h"

namespace sluice {
namespace {

void KeepsTensor(OpDefBuilder& op) {
  op.Input("value", "T").Attr("T", TypeAttr()).Stateful().NotDifferentiable().Shape(ScalarOutput());
}

OP(DeleteSessionTensor, "Deletes the tensor of a handle.")
    .Input("handle", DT_STRING)
    .Stateful()
    .NotDifferentiable()
    .Shape([](ShapeContext& c) { return c.WithRank(0, 0).status(); });

OP(GetSessionHandle, "Keeps `value` in the session and returns a handle of it.")
    .With(KeepsTensor)
    .Output("handle", DT_STRING);

OP(GetSessionHandleV2,
   "Keeps `value` in the session and returns a resource handle. GetSessionTensor takes its name.")
    .With(KeepsTensor)
    .Output("handle", DT_RESOURCE);

OP(GetSessionTensor, "Returns the tensor of a handle.")
    .Input("handle", DT_STRING)
    .Output("value", "dtype")
    .Attr("dtype", TypeAttr())
    .Stateful()
    .NotDifferentiable()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.WithRank(0, 0).status());
      return c.SetOutput(0, PartialShape::UnknownRank());
    });

}  // namespace
}  // namespace sluice
