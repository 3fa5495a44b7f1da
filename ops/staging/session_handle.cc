// Tensors kept in the session between steps: a step gives out a handle, later ones are fed it.
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status HandleShape(ShapeContext& c) { return c.SetOutput(0, PartialShape::Scalar()); }

OP(DeleteSessionTensor, "Forgets the tensor of a handle.")
    .Input("handle", DT_STRING)
    .Stateful()
    .NotDifferentiable()
    .Shape([](ShapeContext& c) { return c.WithRank(0, 0).status(); });

OP(GetSessionHandle, "Keeps `value` in the session; the handle that finds it again.")
    .Input("value", "T")
    .Output("handle", DT_STRING)
    .Attr("T", TypeAttr())
    .Stateful()
    .NotDifferentiable()
    .Shape(HandleShape);

OP(GetSessionHandleV2,
   "GetSessionHandle with a resource handle, whose name GetSessionTensor takes.")
    .Input("value", "T")
    .Output("handle", DT_RESOURCE)
    .Attr("T", TypeAttr())
    .Stateful()
    .NotDifferentiable()
    .Shape(HandleShape);

OP(GetSessionTensor, "The tensor of a handle.")
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
