// The gradient itself as the step: plain descent, and descent with a proximal step for L1 and L2
// regularisation.

#include "ops/op.h"
#include "ops/update/update_shape.h"

namespace sluice {
namespace {

OP(ApplyGradientDescent, "var -= alpha * delta.")
    .RefInput("var", "T")
    .Input("alpha", "T")
    .Input("delta", "T")
    .RefOutput("out", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Shape(UpdateShape);

OP(ResourceApplyGradientDescent, "ApplyGradientDescent of the variable behind a handle.")
    .Input("var", DT_RESOURCE)
    .Input("alpha", "T")
    .Input("delta", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Stateful()
    .Shape(UpdateShape);

OP(ApplyProximalGradientDescent,
   "p = var - alpha * delta; var = sign(p) * max(|p| - alpha * l1, 0) / (1 + alpha * l2).")
    .RefInput("var", "T")
    .Input("alpha", "T")
    .Input("l1", "T")
    .Input("l2", "T")
    .Input("delta", "T")
    .RefOutput("out", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Shape(UpdateShape);

OP(ResourceApplyProximalGradientDescent,
   "ApplyProximalGradientDescent of the variable behind a handle.")
    .Input("var", DT_RESOURCE)
    .Input("alpha", "T")
    .Input("l1", "T")
    .Input("l2", "T")
    .Input("delta", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Stateful()
    .Shape(UpdateShape);

OP(SparseApplyProximalGradientDescent,
   "ApplyProximalGradientDescent for the rows `indices` only; an index may repeat.")
    .RefInput("var", "T")
    .Input("alpha", "T")
    .Input("l1", "T")
    .Input("l2", "T")
    .Input("grad", "T")
    .Input("indices", "Tindices")
    .RefOutput("out", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Shape(UpdateShape);

OP(ResourceSparseApplyProximalGradientDescent,
   "ApplyProximalGradientDescent of the variable behind a handle, for the rows `indices` "
   "only; an index may repeat.")
    .Input("var", DT_RESOURCE)
    .Input("alpha", "T")
    .Input("l1", "T")
    .Input("l2", "T")
    .Input("grad", "T")
    .Input("indices", "Tindices")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Stateful()
    .Shape(UpdateShape);

}  // namespace
}  // namespace sluice
