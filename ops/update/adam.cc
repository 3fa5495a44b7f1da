// Steps along running means of gradients, divided by a running size of them (Kingma, Ba 2015).

#include "ops/op.h"
#include "ops/update/update_shape.h"

namespace sluice {
namespace {

OP(ApplyAdam,
   "m += (1 - beta1) * (grad - m); v += (1 - beta2) * (grad² - v); var -= lr * sqrt(1 - "
   "beta2_power) / (1 - beta1_power) * m / (sqrt(v) + epsilon); with `use_nesterov`, beta1 * "
   "m + (1 - beta1) * grad in place of m.")
    .RefInput("var", "T")
    .RefInput("m", "T")
    .RefInput("v", "T")
    .Input("beta1_power", "T")
    .Input("beta2_power", "T")
    .Input("lr", "T")
    .Input("beta1", "T")
    .Input("beta2", "T")
    .Input("epsilon", "T")
    .Input("grad", "T")
    .RefOutput("out", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Attr("use_nesterov", BoolAttr(false))
    .Shape(UpdateShape);

OP(ResourceApplyAdam, "ApplyAdam of the variable behind a handle.")
    .Input("var", DT_RESOURCE)
    .Input("m", DT_RESOURCE)
    .Input("v", DT_RESOURCE)
    .Input("beta1_power", "T")
    .Input("beta2_power", "T")
    .Input("lr", "T")
    .Input("beta1", "T")
    .Input("beta2", "T")
    .Input("epsilon", "T")
    .Input("grad", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Attr("use_nesterov", BoolAttr(false))
    .Stateful()
    .Shape(UpdateShape);

OP(ResourceApplyAdamWithAmsgrad,
   "Adam, with the largest v so far as divisor: vhat = max(vhat, v); var -= … * m / "
   "(sqrt(vhat) + epsilon) (Reddi, Kale, Kumar 2018).")
    .Input("var", DT_RESOURCE)
    .Input("m", DT_RESOURCE)
    .Input("v", DT_RESOURCE)
    .Input("vhat", DT_RESOURCE)
    .Input("beta1_power", "T")
    .Input("beta2_power", "T")
    .Input("lr", "T")
    .Input("beta1", "T")
    .Input("beta2", "T")
    .Input("epsilon", "T")
    .Input("grad", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Stateful()
    .Shape(UpdateShape);

OP(ApplyAdaMax,
   "m += (1 - beta1) * (grad - m); v = max(beta2 * v, |grad|); var -= lr / (1 - beta1_power) "
   "* m / (v + epsilon).")
    .RefInput("var", "T")
    .RefInput("m", "T")
    .RefInput("v", "T")
    .Input("beta1_power", "T")
    .Input("lr", "T")
    .Input("beta1", "T")
    .Input("beta2", "T")
    .Input("epsilon", "T")
    .Input("grad", "T")
    .RefOutput("out", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Shape(UpdateShape);

OP(ResourceApplyAdaMax, "ApplyAdaMax of the variable behind a handle.")
    .Input("var", DT_RESOURCE)
    .Input("m", DT_RESOURCE)
    .Input("v", DT_RESOURCE)
    .Input("beta1_power", "T")
    .Input("lr", "T")
    .Input("beta1", "T")
    .Input("beta2", "T")
    .Input("epsilon", "T")
    .Input("grad", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Stateful()
    .Shape(UpdateShape);

}  // namespace
}  // namespace sluice
