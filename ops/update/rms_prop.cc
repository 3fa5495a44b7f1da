// Steps divided by the root of a running mean of squared gradients.

#include "ops/op.h"
#include "ops/update/update_shape.h"

namespace sluice {
namespace {

OP(ApplyRMSProp,
   "ms += (1 - rho) * (grad² - ms); mom = momentum * mom + lr * grad / sqrt(ms + epsilon); "
   "var -= mom.")
    .RefInput("var", "T")
    .RefInput("ms", "T")
    .RefInput("mom", "T")
    .Input("lr", "T")
    .Input("rho", "T")
    .Input("momentum", "T")
    .Input("epsilon", "T")
    .Input("grad", "T")
    .RefOutput("out", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Shape(UpdateShape);

OP(ResourceApplyRMSProp, "ApplyRMSProp of the variable behind a handle.")
    .Input("var", DT_RESOURCE)
    .Input("ms", DT_RESOURCE)
    .Input("mom", DT_RESOURCE)
    .Input("lr", "T")
    .Input("rho", "T")
    .Input("momentum", "T")
    .Input("epsilon", "T")
    .Input("grad", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Stateful()
    .Shape(UpdateShape);

OP(SparseApplyRMSProp, "ApplyRMSProp for the rows `indices` only; an index may repeat.")
    .RefInput("var", "T")
    .RefInput("ms", "T")
    .RefInput("mom", "T")
    .Input("lr", "T")
    .Input("rho", "T")
    .Input("momentum", "T")
    .Input("epsilon", "T")
    .Input("grad", "T")
    .Input("indices", "Tindices")
    .RefOutput("out", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Shape(UpdateShape);

OP(ResourceSparseApplyRMSProp,
   "ApplyRMSProp of the variable behind a handle, for the rows `indices` only; an index may "
   "repeat.")
    .Input("var", DT_RESOURCE)
    .Input("ms", DT_RESOURCE)
    .Input("mom", DT_RESOURCE)
    .Input("lr", "T")
    .Input("rho", "T")
    .Input("momentum", "T")
    .Input("epsilon", "T")
    .Input("grad", "T")
    .Input("indices", "Tindices")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Stateful()
    .Shape(UpdateShape);

OP(ApplyCenteredRMSProp,
   "mg += (1 - rho) * (grad - mg); ms += (1 - rho) * (grad² - ms); mom = momentum * mom + lr "
   "* grad / sqrt(ms - mg² + epsilon); var -= mom.")
    .RefInput("var", "T")
    .RefInput("mg", "T")
    .RefInput("ms", "T")
    .RefInput("mom", "T")
    .Input("lr", "T")
    .Input("rho", "T")
    .Input("momentum", "T")
    .Input("epsilon", "T")
    .Input("grad", "T")
    .RefOutput("out", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Shape(UpdateShape);

OP(ResourceApplyCenteredRMSProp, "ApplyCenteredRMSProp of the variable behind a handle.")
    .Input("var", DT_RESOURCE)
    .Input("mg", DT_RESOURCE)
    .Input("ms", DT_RESOURCE)
    .Input("mom", DT_RESOURCE)
    .Input("lr", "T")
    .Input("rho", "T")
    .Input("momentum", "T")
    .Input("epsilon", "T")
    .Input("grad", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Stateful()
    .Shape(UpdateShape);

OP(SparseApplyCenteredRMSProp,
   "ApplyCenteredRMSProp for the rows `indices` only; an index may repeat.")
    .RefInput("var", "T")
    .RefInput("mg", "T")
    .RefInput("ms", "T")
    .RefInput("mom", "T")
    .Input("lr", "T")
    .Input("rho", "T")
    .Input("momentum", "T")
    .Input("epsilon", "T")
    .Input("grad", "T")
    .Input("indices", "Tindices")
    .RefOutput("out", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Shape(UpdateShape);

OP(ResourceSparseApplyCenteredRMSProp,
   "ApplyCenteredRMSProp of the variable behind a handle, for the rows `indices` only; an "
   "index may repeat.")
    .Input("var", DT_RESOURCE)
    .Input("mg", DT_RESOURCE)
    .Input("ms", DT_RESOURCE)
    .Input("mom", DT_RESOURCE)
    .Input("lr", "T")
    .Input("rho", "T")
    .Input("momentum", "T")
    .Input("epsilon", "T")
    .Input("grad", "T")
    .Input("indices", "Tindices")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Stateful()
    .Shape(UpdateShape);

}  // namespace
}  // namespace sluice
