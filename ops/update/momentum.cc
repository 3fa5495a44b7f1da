// Steps along a running sum of gradients.

#include "ops/op.h"
#include "ops/update/update_shape.h"

namespace sluice {
namespace {

OP(ApplyMomentum,
   "accum = momentum * accum + grad; var -= lr * accum (with `use_nesterov`: var -= lr * "
   "(grad + momentum * accum)).")
    .RefInput("var", "T")
    .RefInput("accum", "T")
    .Input("lr", "T")
    .Input("grad", "T")
    .Input("momentum", "T")
    .RefOutput("out", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Attr("use_nesterov", BoolAttr(false))
    .Shape(UpdateShape);

OP(ResourceApplyMomentum, "ApplyMomentum of the variable behind a handle.")
    .Input("var", DT_RESOURCE)
    .Input("accum", DT_RESOURCE)
    .Input("lr", "T")
    .Input("grad", "T")
    .Input("momentum", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Attr("use_nesterov", BoolAttr(false))
    .Stateful()
    .Shape(UpdateShape);

OP(SparseApplyMomentum, "ApplyMomentum for the rows `indices` only; an index may repeat.")
    .RefInput("var", "T")
    .RefInput("accum", "T")
    .Input("lr", "T")
    .Input("grad", "T")
    .Input("indices", "Tindices")
    .Input("momentum", "T")
    .RefOutput("out", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Attr("use_nesterov", BoolAttr(false))
    .Shape(UpdateShape);

OP(ResourceSparseApplyMomentum,
   "ApplyMomentum of the variable behind a handle, for the rows `indices` only; an index may "
   "repeat.")
    .Input("var", DT_RESOURCE)
    .Input("accum", DT_RESOURCE)
    .Input("lr", "T")
    .Input("grad", "T")
    .Input("indices", "Tindices")
    .Input("momentum", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Attr("use_nesterov", BoolAttr(false))
    .Stateful()
    .Shape(UpdateShape);

OP(ResourceApplyKerasMomentum,
   "accum = momentum * accum - lr * grad; var += accum (with `use_nesterov`: var += momentum "
   "* accum - lr * grad).")
    .Input("var", DT_RESOURCE)
    .Input("accum", DT_RESOURCE)
    .Input("lr", "T")
    .Input("grad", "T")
    .Input("momentum", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Attr("use_nesterov", BoolAttr(false))
    .Stateful()
    .Shape(UpdateShape);

OP(ResourceSparseApplyKerasMomentum,
   "ResourceApplyKerasMomentum of the variable behind a handle, for the rows `indices` only; "
   "an index may repeat.")
    .Input("var", DT_RESOURCE)
    .Input("accum", DT_RESOURCE)
    .Input("lr", "T")
    .Input("grad", "T")
    .Input("indices", "Tindices")
    .Input("momentum", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Attr("use_nesterov", BoolAttr(false))
    .Stateful()
    .Shape(UpdateShape);

}  // namespace
}  // namespace sluice
