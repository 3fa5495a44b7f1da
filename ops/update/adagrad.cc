// Steps divided by the root of the sum of squared gradients (Duchi, Hazan, Singer 2011).

#include "ops/op.h"
#include "ops/update/update_shape.h"

namespace sluice {
namespace {

OP(ApplyAdagrad, "accum += grad² (if `update_slots`); var -= lr * grad / sqrt(accum).")
    .RefInput("var", "T")
    .RefInput("accum", "T")
    .Input("lr", "T")
    .Input("grad", "T")
    .RefOutput("out", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Attr("update_slots", BoolAttr(true))
    .Shape(UpdateShape);

OP(ResourceApplyAdagrad, "ApplyAdagrad of the variable behind a handle.")
    .Input("var", DT_RESOURCE)
    .Input("accum", DT_RESOURCE)
    .Input("lr", "T")
    .Input("grad", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Attr("update_slots", BoolAttr(true))
    .Stateful()
    .Shape(UpdateShape);

OP(SparseApplyAdagrad, "ApplyAdagrad for the rows `indices` only; an index may repeat.")
    .RefInput("var", "T")
    .RefInput("accum", "T")
    .Input("lr", "T")
    .Input("grad", "T")
    .Input("indices", "Tindices")
    .RefOutput("out", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Attr("update_slots", BoolAttr(true))
    .Shape(UpdateShape);

OP(ResourceSparseApplyAdagrad,
   "ApplyAdagrad of the variable behind a handle, for the rows `indices` only; an index may "
   "repeat.")
    .Input("var", DT_RESOURCE)
    .Input("accum", DT_RESOURCE)
    .Input("lr", "T")
    .Input("grad", "T")
    .Input("indices", "Tindices")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Attr("update_slots", BoolAttr(true))
    .Stateful()
    .Shape(UpdateShape);

OP(ApplyAdagradV2,
   "accum += grad² (if `update_slots`); var -= lr * grad / (sqrt(accum) + epsilon).")
    .RefInput("var", "T")
    .RefInput("accum", "T")
    .Input("lr", "T")
    .Input("epsilon", "T")
    .Input("grad", "T")
    .RefOutput("out", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Attr("update_slots", BoolAttr(true))
    .Shape(UpdateShape);

OP(ResourceApplyAdagradV2, "ApplyAdagradV2 of the variable behind a handle.")
    .Input("var", DT_RESOURCE)
    .Input("accum", DT_RESOURCE)
    .Input("lr", "T")
    .Input("epsilon", "T")
    .Input("grad", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Attr("update_slots", BoolAttr(true))
    .Stateful()
    .Shape(UpdateShape);

OP(SparseApplyAdagradV2, "ApplyAdagradV2 for the rows `indices` only; an index may repeat.")
    .RefInput("var", "T")
    .RefInput("accum", "T")
    .Input("lr", "T")
    .Input("epsilon", "T")
    .Input("grad", "T")
    .Input("indices", "Tindices")
    .RefOutput("out", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Attr("update_slots", BoolAttr(true))
    .Shape(UpdateShape);

OP(ResourceSparseApplyAdagradV2,
   "ApplyAdagradV2 of the variable behind a handle, for the rows `indices` only; an index "
   "may repeat.")
    .Input("var", DT_RESOURCE)
    .Input("accum", DT_RESOURCE)
    .Input("lr", "T")
    .Input("epsilon", "T")
    .Input("grad", "T")
    .Input("indices", "Tindices")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Attr("update_slots", BoolAttr(true))
    .Stateful()
    .Shape(UpdateShape);

OP(ApplyAdagradDA,
   "Dual averaging. g += grad; gg += grad²; var = -lr * sign(g) * max(|g| - l1 * "
   "global_step, 0) / (l2 * lr * global_step + sqrt(gg)).")
    .RefInput("var", "T")
    .RefInput("gradient_accumulator", "T")
    .RefInput("gradient_squared_accumulator", "T")
    .Input("grad", "T")
    .Input("lr", "T")
    .Input("l1", "T")
    .Input("l2", "T")
    .Input("global_step", DT_INT64)
    .RefOutput("out", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Shape(UpdateShape);

OP(ResourceApplyAdagradDA, "ApplyAdagradDA of the variable behind a handle.")
    .Input("var", DT_RESOURCE)
    .Input("gradient_accumulator", DT_RESOURCE)
    .Input("gradient_squared_accumulator", DT_RESOURCE)
    .Input("grad", "T")
    .Input("lr", "T")
    .Input("l1", "T")
    .Input("l2", "T")
    .Input("global_step", DT_INT64)
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Stateful()
    .Shape(UpdateShape);

OP(SparseApplyAdagradDA, "ApplyAdagradDA for the rows `indices` only; an index may repeat.")
    .RefInput("var", "T")
    .RefInput("gradient_accumulator", "T")
    .RefInput("gradient_squared_accumulator", "T")
    .Input("grad", "T")
    .Input("indices", "Tindices")
    .Input("lr", "T")
    .Input("l1", "T")
    .Input("l2", "T")
    .Input("global_step", DT_INT64)
    .RefOutput("out", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Shape(UpdateShape);

OP(ResourceSparseApplyAdagradDA,
   "ApplyAdagradDA of the variable behind a handle, for the rows `indices` only; an index "
   "may repeat.")
    .Input("var", DT_RESOURCE)
    .Input("gradient_accumulator", DT_RESOURCE)
    .Input("gradient_squared_accumulator", DT_RESOURCE)
    .Input("grad", "T")
    .Input("indices", "Tindices")
    .Input("lr", "T")
    .Input("l1", "T")
    .Input("l2", "T")
    .Input("global_step", DT_INT64)
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Stateful()
    .Shape(UpdateShape);

OP(ApplyProximalAdagrad,
   "accum += grad²; a = lr / sqrt(accum); p = var - a * grad; var = sign(p) * max(|p| - a * "
   "l1, 0) / (1 + a * l2).")
    .RefInput("var", "T")
    .RefInput("accum", "T")
    .Input("lr", "T")
    .Input("l1", "T")
    .Input("l2", "T")
    .Input("grad", "T")
    .RefOutput("out", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Shape(UpdateShape);

OP(ResourceApplyProximalAdagrad, "ApplyProximalAdagrad of the variable behind a handle.")
    .Input("var", DT_RESOURCE)
    .Input("accum", DT_RESOURCE)
    .Input("lr", "T")
    .Input("l1", "T")
    .Input("l2", "T")
    .Input("grad", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Stateful()
    .Shape(UpdateShape);

OP(SparseApplyProximalAdagrad,
   "ApplyProximalAdagrad for the rows `indices` only; an index may repeat.")
    .RefInput("var", "T")
    .RefInput("accum", "T")
    .Input("lr", "T")
    .Input("l1", "T")
    .Input("l2", "T")
    .Input("grad", "T")
    .Input("indices", "Tindices")
    .RefOutput("out", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Shape(UpdateShape);

OP(ResourceSparseApplyProximalAdagrad,
   "ApplyProximalAdagrad of the variable behind a handle, for the rows `indices` only; an "
   "index may repeat.")
    .Input("var", DT_RESOURCE)
    .Input("accum", DT_RESOURCE)
    .Input("lr", "T")
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
