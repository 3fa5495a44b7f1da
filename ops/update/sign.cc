// Steps larger where gradient and momentum agree in sign (Bello and others 2017).

#include "ops/op.h"
#include "ops/update/update_shape.h"

namespace sluice {
namespace {

OP(ApplyAddSign,
   "m = beta * m + (1 - beta) * grad; var -= lr * (alpha + sign_decay * sign(grad) * "
   "sign(m)) * grad.")
    .RefInput("var", "T")
    .RefInput("m", "T")
    .Input("lr", "T")
    .Input("alpha", "T")
    .Input("sign_decay", "T")
    .Input("beta", "T")
    .Input("grad", "T")
    .RefOutput("out", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Shape(UpdateShape);

OP(ResourceApplyAddSign, "ApplyAddSign of the variable behind a handle.")
    .Input("var", DT_RESOURCE)
    .Input("m", DT_RESOURCE)
    .Input("lr", "T")
    .Input("alpha", "T")
    .Input("sign_decay", "T")
    .Input("beta", "T")
    .Input("grad", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Stateful()
    .Shape(UpdateShape);

OP(ApplyPowerSign,
   "m = beta * m + (1 - beta) * grad; var -= lr * exp(logbase * sign_decay * sign(grad) * "
   "sign(m)) * grad.")
    .RefInput("var", "T")
    .RefInput("m", "T")
    .Input("lr", "T")
    .Input("logbase", "T")
    .Input("sign_decay", "T")
    .Input("beta", "T")
    .Input("grad", "T")
    .RefOutput("out", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Shape(UpdateShape);

OP(ResourceApplyPowerSign, "ApplyPowerSign of the variable behind a handle.")
    .Input("var", DT_RESOURCE)
    .Input("m", DT_RESOURCE)
    .Input("lr", "T")
    .Input("logbase", "T")
    .Input("sign_decay", "T")
    .Input("beta", "T")
    .Input("grad", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Stateful()
    .Shape(UpdateShape);

}  // namespace
}  // namespace sluice
